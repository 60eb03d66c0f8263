import JSON
import Testing

@testable import Jobs

/// What a job file says of rows, and what is drawn from it.
@Suite struct PickTests {
    static let yaml = """
        model: m
        output: o
        rows: 6
        pick:
          topic: [history, physics, cooking]
          tone: {of: [formal, plain], weights: [1, 3]}
          age: {from: 18, to: 80}
          price: {from: 0.50, to: 2}
          thing: [{"name": "sea", "n": 1.50}, [], null, true, 12345678901234567890, "5", 5]

        """

    static func rows(_ yaml: String = yaml, _ change: (inout JobSettings) -> Void = { _ in }) throws
        -> [String]
    {
        var job = try JobSettings.parse(yaml)
        change(&job)
        return try rows(job)
    }

    static func rows(_ job: JobSettings) throws -> [String] {
        var reader = job.inputReader()
        var rows: [String] = []
        while let row = try reader.next() { rows.append(String(decoding: row.bytes, as: UTF8.self)) }
        return rows
    }

    /// How often each value comes in so many rows.
    private func counts(_ pick: Pick, _ rows: Int = 10_000, seed: Int = 0) -> [String: Int] {
        let stream = pick.stream(seed: seed)
        return (1...rows).reduce(into: [:]) { $0[pick.value(ofRow: $1, stream: stream), default: 0] += 1 }
    }

    /// They never change: results that are there are known by them.
    @Test func theFirstRows() throws {
        #expect(
            try Self.rows() == [
                #"{"id":"row-1","age":61,"price":1.00,"thing":5,"tone":"formal","topic":"cooking"}"#,
                #"{"id":"row-2","age":20,"price":0.52,"thing":{"name":"sea","n":1.50},"tone":"plain","topic":"cooking"}"#,
                #"{"id":"row-3","age":40,"price":0.53,"thing":"5","tone":"plain","topic":"history"}"#,
                #"{"id":"row-4","age":78,"price":1.46,"thing":{"name":"sea","n":1.50},"tone":"plain","topic":"cooking"}"#,
                #"{"id":"row-5","age":75,"price":1.00,"thing":"5","tone":"plain","topic":"history"}"#,
                #"{"id":"row-6","age":40,"price":1.30,"thing":{"name":"sea","n":1.50},"tone":"plain","topic":"cooking"}"#,
            ])
        #expect(
            try Self.rows { $0.seed = 7 } == [
                #"{"id":"row-1","age":39,"price":0.94,"thing":12345678901234567890,"tone":"formal","topic":"physics"}"#,
                #"{"id":"row-2","age":61,"price":1.79,"thing":5,"tone":"formal","topic":"history"}"#,
                #"{"id":"row-3","age":34,"price":1.17,"thing":12345678901234567890,"tone":"plain","topic":"history"}"#,
                #"{"id":"row-4","age":42,"price":1.30,"thing":null,"tone":"plain","topic":"history"}"#,
                #"{"id":"row-5","age":31,"price":1.90,"thing":"5","tone":"plain","topic":"cooking"}"#,
                #"{"id":"row-6","age":34,"price":1.87,"thing":{"name":"sea","n":1.50},"tone":"plain","topic":"history"}"#,
            ])
    }

    /// By the job's seed, the row's number and the name alone.
    @Test func rowsDependOnNothingElse() throws {
        let rows = try Self.rows()
        #expect(try Array(Self.rows { $0.rows = 1000 }[..<6]) == rows)
        #expect(try Self.rows { $0.pick.reverse() } == rows)
        #expect(try Self.rows { $0.selection = .init(lines: [2]) } == Array(rows[..<2]))
        func ages(_ rows: [String]) throws -> [JSONValue?] {
            try rows.map { try JSONValue(parsing: Array($0.utf8), limits: .line)["age"] }
        }
        #expect(try ages(Self.rows { $0.pick.removeAll { $0.name != "age" } }) == ages(rows))
        #expect(try ages(Self.rows { $0.seed = 1 }) != ages(rows))
        #expect(try ages(Self.rows { $0.seed = 0 }) == ages(rows))
        #expect(try Self.rows("model: m\noutput: o\nrows: 2") == [#"{"id":"row-1"}"#, #"{"id":"row-2"}"#])
    }

    @Test func eachIsDrawnAsOftenAsItShould() throws {
        #expect(counts(try Pick("a", of: ["x", "y", "z"])) == [#""x""#: 3370, #""y""#: 3308, #""z""#: 3322])
        #expect(
            counts(try Pick("a", of: ["x", "y", "z"], weights: [1, 3, 0])) == [#""x""#: 2564, #""y""#: 7436])
        #expect(
            counts(try Pick("b", of: ["x", "y", "z"], weights: [0, 0.1, 0.2]), seed: 3) == [
                #""y""#: 3303, #""z""#: 6697,
            ])
        let dice = counts(try Pick("dice", from: 1, to: 6), 6000)
        #expect(dice == ["1": 994, "2": 1005, "3": 952, "4": 1080, "5": 1003, "6": 966])
        // Two fields of a row have nothing to do with each other.
        let (one, two) = (try Pick("one", from: 0, to: 1), try Pick("two", from: 0, to: 1))
        let same = (1...10_000).count {
            one.value(ofRow: $0, stream: one.stream(seed: 0))
                == two.value(ofRow: $0, stream: two.stream(seed: 0))
        }
        #expect(same == 4948)
    }

    @Test func rangesHaveBothEnds() throws {
        #expect(counts(try Pick("a", from: -1, to: 1)).keys.sorted() == ["-1", "0", "1"])
        #expect(counts(try Pick("a", from: 5, to: 5)).keys.sorted() == ["5"])
        #expect(
            counts(try Pick("a", from: -0.05, to: 0.05, decimals: 2)).keys.sorted() == [
                "-0.01", "-0.02", "-0.03", "-0.04", "-0.05", "0.00", "0.01", "0.02", "0.03", "0.04", "0.05",
            ])
        let whole = counts(try Pick("a", from: .int(.min), to: .int(.max)), 100)
        #expect(whole.count == 100 && whole.keys.allSatisfy { Int($0) != nil })
        func written(_ range: String) throws -> Set<String> {
            let yaml = "model: m\noutput: o\nrows: 400\npick: {x: {\(range)}}"
            return Set(
                try Self.rows(yaml).map { String($0.split(separator: "\"x\":")[1].dropLast()) })
        }
        #expect(try written("from: 1.0, to: 1.2") == ["1.0", "1.1", "1.2"])
        #expect(try written("from: 0, to: 1, decimals: 1").count == 11)
        #expect(try written("from: 1e1, to: 12") == ["10", "11", "12"])
        #expect(try written("from: 2.5e-1, to: 0.252") == ["0.250", "0.251", "0.252"])
    }

    @Test(arguments: [
        ("pick: {a: [1]}", "pick needs rows in place of an input"),
        ("rows: 0", "job:3: rows must be a whole number from 1 to 1000000000, but is 0"),
        ("rows: many", "rows must be a whole number from 1 to 1000000000, but is many"),
        ("rows: 5\ninput: a.jsonl", "rows and input are both given"),
        ("rows: 5\ninput_format: csv", "input_format says how an input is read"),
        ("rows: 5\nid: topic\npick: {topic: [a]}", "rows have ids of their own"),
        ("rows: 5\npick: {}", "pick must be a mapping of fields"),
        ("rows: 5\npick: [a]", "pick must be a mapping of fields"),
        ("rows: 5\npick:\n  a: [1]\n  b: 5", "job:6: pick b: must be a list, or a mapping with of"),
        ("rows: 5\npick: {id: [1]}", "pick id: is a name that lines or results have"),
        ("rows: 5\npick: {a-b: [1]}", "pick a-b: is no name"),
        ("rows: 5\npick: {in: [1]}", "pick in: is a word of the templates' language"),
        ("rows: 5\npick: {a: [1], a: [2]}", "more than once"),
        ("rows: 5\npick: {a: []}", "pick a: has nothing to pick from"),
        ("rows: 5\npick: {a: {of: x}}", "pick a: must be a list, or a mapping with of"),
        ("rows: 5\npick: {a: {to: 5}}", "pick a: must be a list, or a mapping with of"),
        ("rows: 5\npick: {a: {of: [1], from: 1}}", "pick a: must be a list, or a mapping with of"),
        ("rows: 5\npick: {a: {of: [1], weights: [1, 2]}}", "pick a: has 2 weights for 1 values"),
        ("rows: 5\npick: {a: {of: [1], weights: 1}}", "which must be a list of numbers"),
        ("rows: 5\npick: {a: {of: [1], weights: [x]}}", "has weights, which must be numbers, but is x"),
        ("rows: 5\npick: {a: {of: [1, 2], weights: [1, -1]}}", "must have weights of 0 or more"),
        ("rows: 5\npick: {a: {of: [1, 2], weights: [0, 0]}}", "one of them above 0"),
        ("rows: 5\npick: {a: {of: [1, 2], weights: [1e308, 1e308]}}", "whose sum is a number"),
        ("rows: 5\npick: {a: {from: 5}}", "pick a: must have from and to, two numbers"),
        ("rows: 5\npick: {a: {from: x, to: 5}}", "pick a: must have from and to, two numbers"),
        ("rows: 5\npick: {a: {from: 5, to: 4.5}}", "pick a: goes from 5 to 4.5, which is less"),
        ("rows: 5\npick: {a: {from: 0.25, to: 1, decimals: 1}}", "has 0.25, which has more decimals than 1"),
        ("rows: 5\npick: {a: {from: 0, to: 1, decimals: 16}}", "decimals, which must be a whole number"),
        ("rows: 5\npick: {a: {from: 1e-16, to: 1}}", "has numbers with 16 decimals"),
        ("rows: 5\npick: {a: {from: 0.1, to: 1e18}}", "has 1e18, which is too large"),
        ("rows: 5\npick: {a: {file: no-such-file}}", "no-such-file, which is no existing file"),
        ("rows: 5\npick: {a: {file: \"-\"}}", "pick a: must have a file, but has -"),
        ("rows: 5\npick: {a: {file: 5}}", "pick a: has file, which must be a string"),
        ("rows: 5\npick: {a: {file: x, field: 5}}", "pick a: has field, which must be a string"),
        ("rows: 5\npick: {a: [1]}\nsteps: [{name: a, prompt: x}]", "pick: a is the name of a step, too"),
    ])
    func whatIsWrongIsSaid(yaml: String, message: String) {
        let error = #expect(throws: UserError.self) {
            try JobSettings.parse("model: m\noutput: o\n" + yaml)
        }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test func optionsSayHowMany() throws {
        let job = try JobSettings.parse("model: m\noutput: o", options: WrittenSetting.all(["rows": ["12"]]))
        #expect(job.rows == 12)
        #expect(throws: UserError.self) {
            try JobSettings.parse(
                "model: m\noutput: o\ninput: a", options: WrittenSetting.all(["rows": ["12"]]))
        }
        let error = #expect(throws: UserError.self) { try JobSettings.parse("model: m\noutput: o") }
        #expect(error?.message.contains("input is missing") == true)
        #expect(error?.message.contains("rows: 1000") == true)
        #expect(JobKey.named("rows")?.places == [.option] && JobKey.named("pick")?.places == [])
    }

    @Test func rowsAreInBounds() throws {
        var job = JobSettings.test(input: []) { $0.rows = 5 }
        try job.check(file: nil)
        (job.rows, job.awaitsInput) = (0, false)
        #expect(throws: UserError.self) { try job.checkValues() }
        (job.rows, job.awaitsInput) = (5, true)
        let error = #expect(throws: UserError.self) { try job.check(file: nil) }
        #expect(error?.message.contains("--follow") == true)
    }
}

extension Pick {
    init(_ name: String, from first: JSONValue, to last: JSONValue, decimals: Int? = nil) throws {
        try self.init(name, .range(DecimalRange(first, last, decimals: decimals)))
    }
}
