import JSON
import Regex

/// Makes nodes of a document, from the root and along references, one schema at a time, so that no nesting is too deep
/// for it.
struct SchemaLoader {
    typealias Location = SchemaDocument.Location
    typealias Spot = SchemaDocument.Spot

    var document = SchemaDocument()
    let readsNullable: Bool
    private var ids: [Location: SchemaID] = [:]
    private var waiting: [(id: SchemaID, place: Spot)] = []
    private var nodes: [SchemaNode?] = []
    /// Schemas with several references.
    private var shared: Set<SchemaID> = []
    private var patterns: [String: ECMARegex] = [:]
    private var regexStates = 0
    var unknownKeywords: [SchemaMention] = []
    var unknownFormats: [SchemaMention] = []
    var ignoredKeywords: [SchemaMention] = []

    init(readsNullable: Bool) { self.readsNullable = readsNullable }

    mutating func load(_ value: JSONValue, _ draft: Draft) throws(ConstraintFault) -> Schema {
        let root = id(of: try document.add(value, draft))
        while let next = waiting.popLast() {
            let draft = document.resources[next.place.resource].draft
            nodes[next.id.index] = SchemaNode(
                pointer: next.place.location.shown, draft: draft, rules: try rules(next.place, draft))
        }
        let schema = Schema(
            nodes: nodes.compactMap { $0 }, root: root, shared: shared, unknownKeywords: unknownKeywords,
            unknownFormats: unknownFormats, ignoredKeywords: ignoredKeywords)
        try schema.checkForEndlessReferences()
        return schema
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
        case .bool where document.resources[parent.resource].draft >= .draft6: break
        case .bool
        where location.pointer.hasSuffix("/additionalProperties")
            || location.pointer.hasSuffix("/additionalItems"):
            break
        default:
            throw location.fault(.malformed, "must be a schema (an object), but is \(value.kindName)")
        }
        let resource = document.resourceOfSchema[location] ?? parent.resource
        return id(of: Spot(location: location, value: value, resource: resource))
    }

    mutating func reference(_ keyword: Keyword) throws(ConstraintFault) -> SchemaID {
        id(
            of: try document.resolve(
                try text(keyword), from: keyword.parent.resource, at: keyword.location))
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
            throw location.fault(error.kind, "the regular expression \(pattern) has \(error.problem)")
        }
    }
}
