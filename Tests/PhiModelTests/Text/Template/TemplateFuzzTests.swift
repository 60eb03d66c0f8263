import Foundation
import JSON
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// Mutated templates must either work or end with an error of ours: no crash, no hang.
@Suite struct TemplateFuzzTests {
    private static let fragments = [
        "{{", "}}", "{%", "%}", "{#", "#}", "{%-", "-%}", "{{-", "-}}", "{% endif %}", "{% endfor %}",
        "{% if x %}",
        "{% for m in messages %}", "{% else %}", "{% break %}", "{% set x = [x, x] %}", "{% set ns.x = ns %}",
        "{% macro m(a) %}", "{% endmacro %}", "{{ m(m) }}", "{% raw %}", "{% endraw %}", "[", "]", "(", ")",
        "{", "}",
        "'", "\"", "\\", "\\u12", "|", "| tojson", "| map('upper')", "| sort", "| dictsort", "| first",
        "[::-1]",
        "[9999999999999999999:]", "[-9223372036854775807:]", ".x", ".items()", ".split('')", " is ", " in ",
        " not ",
        " and ", " ~ ", " * 1000000", " ** 99", " // 0", "9223372036854775807", "1e309", "-", "range(99999)",
        "loop",
        "loop.previtem", "namespace(x=1)", "\u{0}", "\u{301}", "\r\n", "\u{1F468}\u{200D}\u{1F469}", "none",
        "messages",
    ]

    private static let sources = [
        "{% for message in messages %}{{'<|' + message['role'] + '|>' + message['content'] | trim + '<|end|>\n'}}"
            + "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% else %}{{ eos_token }}{% endif %}",
        "{%- set ns = namespace(n=0, x=[]) %}\n{%- for m in messages[1:] if m.role != 'system' -%}\n  {%- set ns.n = "
            + "ns.n + 1 %}{{ loop.index ~ '/' ~ loop.length }}{% continue %}\n{%- else %}none{% endfor -%}{{ ns.n }}",
        "{% macro show(v, depth=0) %}{% if v is mapping %}{% for k, w in v.items() %}{{ k }}: {{ show(w, depth + 1) }}"
            + "{% endfor %}{% elif v is string %}{{ v | replace('a', 'b') | trim }}{% else %}{{ v | tojson(indent=2)"
            + " }}{% endif %}{% endmacro %}{{ show(messages[0]) }}{{ messages | map(attribute='role') | join(', ') }}",
        "{% set t %}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{% endset %}{{ t * 3 }}{{ "
            + "{'a': [1, 2.5, none, true], 'b': ('x', \"y\\n\\u00e9\")} }}{{ messages[0].content[::-1].split()[:2] }}",
    ]

    private static let messages: [JSONValue] = [
        ["role": "system", "content": "Be  brief.\r\n"], ["role": "user", "content": "e\u{301}a \u{1F600}"],
        ["role": "assistant", "content": "x", "calls": ["a", 1, nil, ["b": 2.5]]],
    ]

    static func mutated(_ source: [Unicode.Scalar], _ random: inout FixedRandom) -> String {
        var text = source
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0...text.count, using: &random)
            let end = min(text.count, at + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text.removeSubrange(at..<end)
            case 1:
                text.insert(
                    contentsOf: fragments.randomElement(using: &random)?.unicodeScalars.map { $0 } ?? [],
                    at: at)
            case 2:
                text.insert(contentsOf: text[at..<end], at: Int.random(in: 0...text.count, using: &random))
            default:
                text.replaceSubrange(
                    at..<end, with: fragments.randomElement(using: &random)?.unicodeScalars.map { $0 } ?? [])
            }
        }
        return PythonText.string(text)
    }

    @Test func mutationsNeverCrash() throws {
        var random = FixedRandom(4)
        var sources = Self.sources
        for name in ModelFixtures.models {
            let file = try ModelFixtures.folder().appending(path: "chat_templates/\(name).jinja")
            sources.append(try String(contentsOf: file, encoding: .utf8))
        }
        // Low limits keep each case short; that the real ones hold is tested elsewhere.
        var limits = TemplateLimits()
        limits.steps = 100_000
        limits.textBytes = 1 << 20
        var rendered = 0
        var refused = 0
        for round in 0..<6000 {
            let source = Self.mutated(Array(sources[round % sources.count].unicodeScalars), &random)
            do {
                let template = try ChatTemplate(
                    source: source, specialTokens: ["eos_token": "<|end|>"], path: nil, name: "t",
                    limits: limits)
                _ = try template.render(messages: Self.messages, addGenerationPrompt: round % 2 == 0)
                rendered += 1
            } catch is UserError {
                refused += 1
            }
        }
        #expect(rendered > 300)
        #expect(refused > 300)
    }
}
