import Errors

extension Schema {
    /// Refuses schemas that apply themselves to the same part of an instance without end.
    func checkForEndlessReferences() throws(ConstraintFault) {
        enum Visit { case never, now, done }
        var visits = [Visit](repeating: .never, count: nodes.count)
        for start in nodes.indices where visits[start] == .never {
            visits[start] = .now
            var path = [(node: start, next: nodes[start].rules.inPlace[...])]
            while var last = path.popLast() {
                guard let target = last.next.popFirst() else {
                    visits[last.node] = .done
                    continue
                }
                path.append(last)
                switch visits[target.index] {
                case .done: break
                case .now:
                    let problem: Message =
                        "leads back to \(nodes[target.index].pointer) without going into the instance"
                    throw ConstraintFault(.endless, at: nodes[last.node].pointer, problem.text)
                case .never:
                    visits[target.index] = .now
                    path.append((target.index, nodes[target.index].rules.inPlace[...]))
                }
            }
        }
    }
}

extension SchemaRules {
    /// The schemas that apply to the same instance as this one.
    fileprivate var inPlace: [SchemaID] {
        var schemas = [reference].compactMap { $0 }
        if let combined {
            schemas += combined.allOf + combined.anyOf + combined.oneOf
            schemas += [combined.not, combined.condition, combined.then, combined.otherwise].compactMap { $0 }
        }
        if let object { schemas += object.dependentSchemas.map(\.schema) }
        return schemas
    }
}
