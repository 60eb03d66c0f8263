import Errors
import JSON

/// The documents of a schema, with their schema resources and anchors.
///
/// The first document is the caller's; metaschemas are added when referred to.
struct SchemaDocuments {
    /// A place in a document.
    struct Location: Hashable {
        var document: Int
        /// From the document's root, like `/properties/a`.
        var pointer: String

        func child(_ name: String) -> Location {
            Location(document: document, pointer: pointer + "/" + JSONPointer.escaped(name))
        }

        func child(_ index: Int) -> Location { Location(document: document, pointer: "\(pointer)/\(index)") }
    }

    struct Spot {
        var location: Location
        var value: JSONValue
        var resource: Int
    }

    struct Resource {
        let uri: URIReference
        let draft: Draft
        let root: Location
        let value: JSONValue
        var anchors: [String: Spot] = [:]
        var dynamicAnchors: [String: Spot] = [:]
        /// Duplicate anchors: an error only if they are used.
        var doubtful: Set<String> = []
    }

    private(set) var resources: [Resource] = []
    private var resourceOfURI: [String: Int] = [:]
    private var doubtfulURIs: Set<String> = []
    /// The resource of each schema found.
    private(set) var resourceOfSchema: [Location: Int] = [:]
    /// URIs of the documents after the first.
    private var documentURIs: [String] = [""]

    /// A place in messages.
    func shown(_ location: Location) -> String { documentURIs[location.document] + "#" + location.pointer }

    func fault(_ kind: ConstraintFault.Reason, _ location: Location, _ problem: Message) -> ConstraintFault {
        ConstraintFault(kind, at: shown(location), problem.text)
    }

    // MARK: Scanning

    /// Adds the caller's document.
    mutating func add(_ value: JSONValue, _ draft: Draft) throws(ConstraintFault) -> Spot {
        try add(value, draft, document: 0, uri: "")
    }

    private mutating func add(
        _ value: JSONValue, _ draft: Draft, document: Int, uri: String
    ) throws(ConstraintFault) -> Spot {
        let root = Location(document: document, pointer: "")
        let dialect = try dialect(of: value, at: root) ?? draft
        var base = URIReference(uri)
        if case .string(let id)? = value[dialect.idKeyword], !id.hasPrefix("#"),
            dialect.readsBesideReference || value["$ref"] == nil
        {
            base = URIReference(id).resolved(against: base)
            base.fragment = nil
        }
        let place = Spot(location: root, value: value, resource: resources.count)
        register(Resource(uri: base, draft: dialect, root: root, value: value))
        // Also under the requested name.
        if resourceOfURI[uri] == nil { resourceOfURI[uri] = place.resource }
        try scan(place)
        return place
    }

    private mutating func register(_ resource: Resource) {
        let uri = resource.uri.text
        if resourceOfURI[uri] != nil {
            doubtfulURIs.insert(uri)
        } else {
            resourceOfURI[uri] = resources.count
        }
        resources.append(resource)
    }

    private func dialect(of value: JSONValue, at location: Location) throws(ConstraintFault) -> Draft? {
        guard let named = value["$schema"] else { return nil }
        guard case .string(let uri) = named, let draft = Draft(schema: uri) else {
            let known = Draft.allCases.map { Message(value: $0.uri) }.joined(separator: ", ")
            throw fault(.unknownDialect, location.child("$schema"), "not a known dialect; known are \(known)")
        }
        return draft
    }

    /// Finds the resources and anchors in a schema.
    private mutating func scan(_ start: Spot) throws(ConstraintFault) {
        var waiting: [(place: Spot, depth: Int)] = [(start, 0)]
        while let (next, depth) = waiting.popLast() {
            var place = next
            guard depth <= SchemaLimits.depth else {
                throw fault(.tooLarge, place.location, "nested more than \(SchemaLimits.depth) levels deep")
            }
            guard resourceOfSchema[place.location] == nil else { continue }
            guard resourceOfSchema.count < SchemaLimits.nodes else {
                throw fault(.tooLarge, place.location, "more than \(SchemaLimits.nodes) schemas")
            }
            guard case .object(let members) = place.value else {
                resourceOfSchema[place.location] = place.resource
                continue
            }
            try identify(&place, members)
            resourceOfSchema[place.location] = place.resource
            let draft = resources[place.resource].draft
            for member in members {
                guard let shape = SchemaKeyword.known(member.name, in: draft) else { continue }
                let location = place.location.child(member.name)
                for (child, value) in Self.schemas(in: member.value, at: location, shape) {
                    waiting.append(
                        (Spot(location: child, value: value, resource: place.resource), depth + 1))
                }
            }
        }
    }

    /// The schemas in a keyword's value.
    private static func schemas(
        in value: JSONValue, at location: Location, _ shape: SchemaKeyword.Shape
    ) -> [(Location, JSONValue)] {
        switch (shape, value) {
        case (.value, _), (.annotation, _): []
        case (.schemaList, .array(let elements)), (.schemaOrList, .array(let elements)):
            elements.enumerated().map { (location.child($0), $1) }
        case (.schemaMap, .object(let members)), (.dependencies, .object(let members)):
            members.map { (location.child($0.name), $0.value) }
        case (.schema, _), (.schemaOrList, _): [(location, value)]
        default: []
        }
    }

    /// Notes the URI and anchors of a schema, and moves the place into its resource.
    private mutating func identify(_ place: inout Spot, _ members: JSONObject) throws(ConstraintFault) {
        let location = place.location
        let isRoot = resources[place.resource].root == location
        // A schema with its own URI may have another draft than its parent.
        let dialect = isRoot ? nil : try dialect(of: place.value, at: location)
        try enter(&place, members, dialect ?? resources[place.resource].draft)
        let draft = resources[place.resource].draft
        if draft >= .draft2019, case .string(let name)? = members["$anchor"] { add(anchor: name, place) }
        if draft == .draft2019, members["$recursiveAnchor"] == .bool(true) {
            resources[place.resource].dynamicAnchors[""] = place
        }
        if draft == .draft2020, case .string(let name)? = members["$dynamicAnchor"] {
            add(anchor: name, place)
            resources[place.resource].dynamicAnchors[name] = place
        }
    }

    private mutating func enter(
        _ place: inout Spot, _ members: JSONObject, _ draft: Draft
    ) throws(ConstraintFault) {
        guard case .string(let id)? = members[draft.idKeyword],
            draft.readsBesideReference || members["$ref"] == nil
        else { return }
        var uri = URIReference(id)
        let anchor = uri.fragment ?? ""
        if draft.readsBesideReference, !anchor.isEmpty {
            throw fault(
                .malformed, place.location.child("$id"),
                "must not have a fragment; a name for a place is $anchor")
        }
        if !id.hasPrefix("#"), resources[place.resource].root != place.location {
            uri = uri.resolved(against: resources[place.resource].uri)
            uri.fragment = nil
            place.resource = resources.count
            register(Resource(uri: uri, draft: draft, root: place.location, value: place.value))
        }
        if !anchor.isEmpty { add(anchor: anchor, place) }
    }

    private mutating func add(anchor: String, _ place: Spot) {
        if resources[place.resource].anchors[anchor] != nil {
            resources[place.resource].doubtful.insert(anchor)
        } else {
            resources[place.resource].anchors[anchor] = place
        }
    }

    // MARK: Lookup

    /// - Returns: the place that a reference leads to, and its fragment if it is the name of an anchor.
    mutating func resolve(
        _ reference: String, from resource: Int, at location: Location
    ) throws(ConstraintFault) -> (place: Spot, anchor: String?) {
        var uri = URIReference(reference).resolved(against: resources[resource].uri)
        let fragment = URIReference.percentDecoded(uri.fragment ?? "")
        uri.fragment = nil
        guard let fragment else {
            throw fault(.malformed, location, "the fragment of \(reference) is not percent-encoded UTF-8")
        }
        let target = try self.resource(uri.text, reference, location)
        let root = Spot(location: resources[target].root, value: resources[target].value, resource: target)
        if fragment.isEmpty { return (root, nil) }
        if fragment.hasPrefix("/") { return (try walk(fragment, from: root, reference, location), nil) }
        guard let place = resources[target].anchors[fragment] else {
            throw fault(.unresolved, location, "no schema has the anchor that \(reference) names")
        }
        guard !resources[target].doubtful.contains(fragment) else {
            throw fault(.unresolved, location, "two schemas have the anchor that \(reference) names")
        }
        return (place, fragment)
    }

    private mutating func resource(
        _ uri: String, _ reference: String, _ location: Location
    ) throws(ConstraintFault) -> Int {
        guard !doubtfulURIs.contains(uri) else {
            throw fault(.unresolved, location, "two schemas have the URI that \(reference) names")
        }
        if let known = resourceOfURI[uri] { return known }
        guard let text = Metaschemas.text(uri) else {
            throw fault(
                .remote, location,
                "\(reference) is in another document, and none is fetched; copy it into $defs")
        }
        guard let value = try? JSONValue(parsing: Array(text.utf8), limits: .file) else {
            throw fault(.unresolved, location, "the metaschema \(uri) can't be read")
        }
        documentURIs.append(uri)
        return try add(value, .draft2020, document: documentURIs.count - 1, uri: uri).resource
    }

    private mutating func walk(
        _ pointer: String, from root: Spot, _ reference: String, _ location: Location
    ) throws(ConstraintFault) -> Spot {
        guard let names = JSONPointer.names(pointer) else {
            throw fault(.malformed, location, "the fragment of \(reference) is no JSON pointer")
        }
        var place = root
        for name in names {
            switch place.value {
            case .object(let members):
                guard let value = members[name] else {
                    throw fault(.unresolved, location, "\(reference) leads nowhere: there is no \(name)")
                }
                place.value = value
            case .array(let elements):
                guard let index = JSONPointer.index(name), index < elements.count else {
                    throw fault(.unresolved, location, "\(reference) leads nowhere: there is no item \(name)")
                }
                place.value = elements[index]
            default:
                throw fault(
                    .unresolved, location, "\(reference) leads nowhere: \(name) is beyond a plain value")
            }
            place.location = place.location.child(name)
            if let known = resourceOfSchema[place.location] { place.resource = known }
        }
        switch place.value {
        case .object, .bool: break
        default:
            throw fault(
                .unresolved, location, "\(reference) leads to \(place.value.kindName), not to a schema")
        }
        // It may be in a place where no keyword expects a schema.
        if resourceOfSchema[place.location] == nil { try scan(place) }
        place.resource = resourceOfSchema[place.location] ?? place.resource
        return place
    }
}
