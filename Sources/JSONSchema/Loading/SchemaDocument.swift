import Errors
import JSON

/// The schema resources and anchors of a document.
struct SchemaDocument {
    /// A place in the document.
    struct Location: Hashable {
        /// From the root, like `/properties/a`.
        var pointer = ""

        func child(_ name: String) -> Location {
            Location(pointer: pointer + "/" + JSONPointer.escaped(name))
        }

        func child(_ index: Int) -> Location { Location(pointer: "\(pointer)/\(index)") }

        /// The place in messages.
        var shown: String { "#" + pointer }

        func fault(_ kind: ConstraintFault.Reason, _ problem: Message) -> ConstraintFault {
            ConstraintFault(kind, at: shown, problem.text)
        }
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
        /// Duplicate anchors: an error only if they are used.
        var doubtful: Set<String> = []
    }

    private(set) var resources: [Resource] = []
    private var resourceOfURI: [String: Int] = [:]
    private var doubtfulURIs: Set<String> = []
    /// The resource of each schema found.
    private(set) var resourceOfSchema: [Location: Int] = [:]

    // MARK: Scanning

    /// - Parameter draft: of a document without `$schema`.
    mutating func add(_ value: JSONValue, _ draft: Draft) throws(ConstraintFault) -> Spot {
        let root = Location()
        let dialect = try dialect(of: value, at: root) ?? draft
        var base = URIReference("")
        if case .string(let id)? = value[dialect.idKeyword], !id.hasPrefix("#"),
            dialect.readsBesideReference || value["$ref"] == nil
        {
            base = URIReference(id).resolved(against: base)
            base.fragment = nil
        }
        let place = Spot(location: root, value: value, resource: resources.count)
        register(Resource(uri: base, draft: dialect, root: root, value: value))
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
            throw location.child("$schema").fault(.unknownDialect, "not a known dialect; known are \(known)")
        }
        return draft
    }

    /// Finds the resources and anchors in a schema.
    private mutating func scan(_ start: Spot) throws(ConstraintFault) {
        var waiting: [(place: Spot, depth: Int)] = [(start, 0)]
        while let (next, depth) = waiting.popLast() {
            var place = next
            guard depth <= SchemaLimits.depth else {
                throw place.location.fault(.tooLarge, "nested more than \(SchemaLimits.depth) levels deep")
            }
            guard resourceOfSchema[place.location] == nil else { continue }
            guard resourceOfSchema.count < SchemaLimits.nodes else {
                throw place.location.fault(.tooLarge, "more than \(SchemaLimits.nodes) schemas")
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
        if draft == .draft2020, case .string(let name)? = members["$dynamicAnchor"] {
            add(anchor: name, place)
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
            throw place.location.child("$id").fault(
                .malformed, "must not have a fragment; a name for a place is $anchor")
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

    /// - Returns: the place that a reference leads to.
    mutating func resolve(
        _ reference: String, from resource: Int, at location: Location
    ) throws(ConstraintFault) -> Spot {
        var uri = URIReference(reference).resolved(against: resources[resource].uri)
        let fragment = URIReference.percentDecoded(uri.fragment ?? "")
        uri.fragment = nil
        guard let fragment else {
            throw location.fault(.malformed, "the fragment of \(reference) is not percent-encoded UTF-8")
        }
        guard !doubtfulURIs.contains(uri.text) else {
            throw location.fault(.unresolved, "two schemas have the URI that \(reference) names")
        }
        guard let target = resourceOfURI[uri.text] else {
            throw location.fault(
                .remote, "\(reference) is in another document, and none is fetched; copy it into $defs")
        }
        let root = Spot(location: resources[target].root, value: resources[target].value, resource: target)
        if fragment.isEmpty { return root }
        if fragment.hasPrefix("/") { return try walk(fragment, from: root, reference, location) }
        guard let place = resources[target].anchors[fragment] else {
            throw location.fault(.unresolved, "no schema has the anchor that \(reference) names")
        }
        guard !resources[target].doubtful.contains(fragment) else {
            throw location.fault(.unresolved, "two schemas have the anchor that \(reference) names")
        }
        return place
    }

    private mutating func walk(
        _ pointer: String, from root: Spot, _ reference: String, _ location: Location
    ) throws(ConstraintFault) -> Spot {
        guard let names = JSONPointer.names(pointer) else {
            throw location.fault(.malformed, "the fragment of \(reference) is no JSON pointer")
        }
        var place = root
        for name in names {
            switch place.value {
            case .object(let members):
                guard let value = members[name] else {
                    throw location.fault(.unresolved, "\(reference) leads nowhere: there is no \(name)")
                }
                place.value = value
            case .array(let elements):
                guard let index = JSONPointer.index(name), index < elements.count else {
                    throw location.fault(.unresolved, "\(reference) leads nowhere: there is no item \(name)")
                }
                place.value = elements[index]
            default:
                throw location.fault(
                    .unresolved, "\(reference) leads nowhere: \(name) is beyond a plain value")
            }
            place.location = place.location.child(name)
            if let known = resourceOfSchema[place.location] { place.resource = known }
        }
        switch place.value {
        case .object, .bool: break
        default:
            throw location.fault(
                .unresolved, "\(reference) leads to \(place.value.kindName), not to a schema")
        }
        // It may be in a place where no keyword expects a schema.
        if resourceOfSchema[place.location] == nil { try scan(place) }
        place.resource = resourceOfSchema[place.location] ?? place.resource
        return place
    }
}
