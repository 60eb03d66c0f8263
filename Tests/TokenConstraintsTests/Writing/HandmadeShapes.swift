import JSON
import Regex

@testable import TokenConstraints

/// Shapes put together by hand, so that these tests don't depend on how schemas are read.
enum Handmade {
    /// - Parameter pattern: that all names match.
    static func free(_ pattern: String? = nil, _ value: Int) -> FreeNames? {
        let patterns = [pattern].compactMap { $0.flatMap { try? ECMARegex($0) } }
        let matched = Array(patterns.indices)
        return NameConditions(patterns: patterns).build { $0 == matched }.names
            .map { FreeNames($0, [matched: value]) }
    }

    static func string(_ conditions: StringConditions = StringConditions()) -> Shape {
        conditions.build().text.map { .string($0) } ?? .text(LiteralText([]))
    }

    static func literals(_ texts: String...) -> Shape { .text(LiteralText(texts.map { Array($0.utf8) })) }

    static func id(_ index: Int) -> Int { index }

    /// `{"name": string, "nick"?: 2 to 4 characters, "age": number, "colors"?: 1 to 3 colors, others...}`
    static func person() throws -> AnswerShape {
        let number = try MachineText(whole: "-?(0|[1-9][0-9]{0,8})")
        let members: [ObjectShape.Member] = [
            .init(name: "name", target: id(1), isRequired: true),
            .init(name: "nick", target: id(2), isRequired: false),
            .init(name: "age", target: id(3), isRequired: true),
            .init(name: "colors", target: id(4), isRequired: false),
        ]
        return AnswerShape(
            targets: [
                MaskTarget(
                    shapes: [
                        .object(
                            ObjectShape(
                                members: members, reserved: members.map(\.name),
                                free: free(nil, id(6)), minCount: 2,
                                maxCount: 6))
                    ], fewestBytes: 19),
                MaskTarget(shapes: [string()], fewestBytes: 2),
                MaskTarget(shapes: [string(StringConditions(minLength: 2, maxLength: 4))], fewestBytes: 4),
                MaskTarget(shapes: [.text(number)], fewestBytes: 1),
                MaskTarget(
                    shapes: [
                        .array(ArrayShape(prefix: [], rest: id(5), minCount: 1, maxCount: 3))
                    ], fewestBytes: 6),
                MaskTarget(shapes: [literals("\"red\"", "\"green\"", "null")], fewestBytes: 4),
                MaskTarget(
                    shapes: [
                        .text(number),
                        .object(
                            ObjectShape(
                                members: [], reserved: [], free: free(nil, id(3)), minCount: 0,
                                maxCount: nil)),
                    ], fewestBytes: 1),
            ], root: id(0))
    }

    /// An object of exactly three of the four names of one or two times a or b, without "b".
    static func fewNames() -> AnswerShape {
        AnswerShape(
            targets: [
                MaskTarget(
                    shapes: [
                        .object(
                            ObjectShape(
                                members: [], reserved: ["b"], free: free("^(a|b|aa|ab|ba)$", id(1)),
                                minCount: 4,
                                maxCount: 4))
                    ], fewestBytes: 36),
                MaskTarget(shapes: [literals("1")], fewestBytes: 1),
            ], root: id(0))
    }

    /// An object of names that begin with "a", or hold an "x", or are "b", without "ab", "ax" and "b".
    static func certainNames() -> AnswerShape {
        let object = ObjectShape(
            members: [], reserved: ["ab", "ax", "b"], free: free("^(b|a.*|.*x.*)$", id(1)), minCount: 3,
            maxCount: 9)
        return AnswerShape(
            targets: [
                MaskTarget(shapes: [.object(object)], fewestBytes: 19),
                MaskTarget(shapes: [literals("1")], fewestBytes: 1),
            ], root: id(0))
    }

    /// A list of strings of certain texts, with and without bounds on their lengths.
    static func patterns() throws -> AnswerShape {
        let all: [StringConditions] = [
            StringConditions(patterns: [try ECMARegex("[a-c]{2}é?")]),
            StringConditions(patterns: [try ECMARegex("^(\\S+ )*\\S+$")], maxLength: 9),
            StringConditions(patterns: [try ECMARegex("^[a-é]*$")], minLength: 3, maxLength: 6),
            StringConditions(minLength: 1, forbidden: ["ab", "日本"].map(ExactText.init)),
            StringConditions(formats: ["date"]),
        ]
        let ids = all.indices.map { id($0 + 1) }
        return AnswerShape(
            targets: [
                MaskTarget(
                    shapes: [
                        .array(ArrayShape(prefix: ids, rest: nil, minCount: all.count, maxCount: all.count))
                    ], fewestBytes: 50)
            ] + all.map { MaskTarget(shapes: [string($0)], fewestBytes: 2) }, root: id(0))
    }

    /// Two objects that begin alike: `{"name": string, "age": 12}` and `{"name": "abc", "name2": null}`.
    static func twins() -> AnswerShape {
        func object(_ members: [ObjectShape.Member]) -> Shape {
            .object(
                ObjectShape(
                    members: members, reserved: [], free: nil, minCount: 2, maxCount: nil))
        }
        return AnswerShape(
            targets: [
                MaskTarget(
                    shapes: [
                        object([
                            .init(name: "name", target: id(1), isRequired: true),
                            .init(name: "age", target: id(2), isRequired: true),
                        ]),
                        object([
                            .init(name: "name", target: id(3), isRequired: true),
                            .init(name: "name2", target: id(4), isRequired: true),
                        ]),
                    ], fewestBytes: 20),
                MaskTarget(shapes: [string()], fewestBytes: 2),
                MaskTarget(shapes: [literals("12")], fewestBytes: 2),
                MaskTarget(shapes: [literals("\"abc\"")], fewestBytes: 5),
                MaskTarget(shapes: [literals("null")], fewestBytes: 4),
            ], root: id(0))
    }
}
