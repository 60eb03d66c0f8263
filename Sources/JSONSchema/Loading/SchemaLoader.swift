import JSON
import Regex

/// Makes nodes of documents, from the root and along references, one schema at a time, so that no nesting is too deep
/// for it.
struct SchemaLoader {
    typealias Location = SchemaDocuments.Location
    typealias Spot = SchemaDocuments.Spot

    var documents = SchemaDocuments()
    let readsNullable: Bool
    private var ids: [Location: SchemaID] = [:]
    private var waiting: [(id: SchemaID, place: Spot)] = []
    private var nodes: [SchemaNode?] = []
    /// Schemas with several references.
    private var shared: Set<SchemaID> = []
    private var patterns: [String: ECMARegex] = [:]
    private var regexStates = 0
    private var resourcesDone = 0
    private var dynamicAnchors: [[String: SchemaID]] = []
    private var isDynamic = false
    var unknownKeywords: [SchemaMention] = []
    var unknownFormats: [SchemaMention] = []
    var ignoredKeywords: [SchemaMention] = []

    init(readsNullable: Bool) { self.readsNullable = readsNullable }

    mutating func load(_ document: JSONValue, _ draft: Draft) throws(ConstraintFault) -> Schema {
        let root = id(of: try documents.add(document, draft))
        while true {
            addDynamicAnchors()
            guard let next = waiting.popLast() else { break }
            let resource = documents.resources[next.place.resource]
            nodes[next.id.index] = SchemaNode(
                pointer: documents.shown(next.place.location), draft: resource.draft,
                resource: next.place.resource, rules: try rules(next.place, resource.draft))
        }
        let schema = Schema(
            nodes: nodes.compactMap { $0 }, root: root,
            resources: zip(documents.resources, dynamicAnchors).map {
                SchemaResource(uri: $0.uri.text, draft: $0.draft, dynamicAnchors: $1)
            },
            isDynamic: isDynamic, shared: shared, unknownKeywords: unknownKeywords,
            unknownFormats: unknownFormats,
            ignoredKeywords: ignoredKeywords)
        try schema.checkForEndlessReferences()
        return schema
    }

    /// Any dynamic anchor may be the target of a dynamic reference.
    private mutating func addDynamicAnchors() {
        while resourcesDone < documents.resources.count {
            dynamicAnchors.append(documents.resources[resourcesDone].dynamicAnchors.mapValues { id(of: $0) })
            resourcesDone += 1
        }
    }

    private mutating func id(of place: Spot) -> SchemaID {
        if let known = ids[place.location] {
            shared.insert(known)
            return known
        }
        let id = SchemaID(index: nodes.count)
        nodes.append(nil)
        ids[place.location] = id
        waiting.append((id, place))
        return id
    }

    // MARK: Keywords

    /// The node of a schema within `parent`.
    mutating func child(_ value: JSONValue, _ location: Location, in parent: Spot) throws(ConstraintFault)
        -> SchemaID
    {
        switch value {
        case .object: break
        case .bool where documents.resources[parent.resource].draft >= .draft6: break
        case .bool
        where location.pointer.hasSuffix("/additionalProperties")
            || location.pointer.hasSuffix("/additionalItems"):
            break
        default:
            throw documents.fault(
                .malformed, location, "must be a schema (an object), but is \(value.kindName)")
        }
        let resource = documents.resourceOfSchema[location] ?? parent.resource
        return id(of: Spot(location: location, value: value, resource: resource))
    }

    mutating func reference(_ keyword: Keyword) throws(ConstraintFault) -> SchemaID {
        id(of: try target(of: keyword).place)
    }

    private mutating func target(of keyword: Keyword) throws(ConstraintFault) -> (
        place: Spot, anchor: String?
    ) {
        try documents.resolve(try text(keyword), from: keyword.parent.resource, at: keyword.location)
    }

    /// Reads a `$dynamicRef` or a `$recursiveRef`: dynamic only if its first target has such an anchor.
    mutating func dynamicReference(_ keyword: Keyword) throws(ConstraintFault) -> DynamicReference {
        let (place, name) = try target(of: keyword)
        let anchor = documents.resources[keyword.parent.resource].draft == .draft2019 ? "" : name
        let known = anchor.flatMap { documents.resources[place.resource].dynamicAnchors[$0] }
        let isDynamic = known?.location == place.location
        self.isDynamic = self.isDynamic || isDynamic
        return DynamicReference(fallback: id(of: place), anchor: isDynamic ? anchor : nil)
    }

    mutating func regex(_ pattern: String, _ location: Location) throws(ConstraintFault) -> ECMARegex {
        if let known = patterns[pattern] { return known }
        do throws(ConstraintFault) {
            let regex = try ECMARegex(pattern)
            regexStates += regex.stateCount
            guard regexStates <= SchemaLimits.regexStates else {
                throw ConstraintFault(
                    .tooLarge, "more than is left of the \(SchemaLimits.regexStates) states for all")
            }
            patterns[pattern] = regex
            return regex
        } catch {
            throw documents.fault(
                error.kind, location, "the regular expression \(pattern) has \(error.problem)")
        }
    }
}
