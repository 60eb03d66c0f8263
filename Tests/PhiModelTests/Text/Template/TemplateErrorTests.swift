import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// What a template can't be is said when it is loaded, with line and construct.
@Suite struct TemplateErrorTests {
    private func loading(_ source: String) -> UserError? {
        modelError { _ = try ChatTemplate(source: source) }
    }

    @Test(arguments: [
        ("{% include 'x' %}", "the tag 'include' is not supported"),
        ("{{ x | nosuch }}", "the filter 'nosuch' is not supported"),
        ("{{ x | map('nosuch') }}", "the filter 'nosuch'"),
        ("{% raw %}{% endraw %}", "the tag 'raw' is not supported; write"),
        ("{% set x | upper %}{% endset %}", "a filter of a 'set' block"),
        ("{{ x | truncate(9) }}", "the filter 'truncate' is not supported; there are capitalize, default"),
        ("{{ x is eq 1 }}", "the test 'eq' is for filters only"),
        ("{{ x | sort(reverse=true) }}", "the filter 'sort' has no argument 'reverse'"),
        ("{{ x | select(y) }}", "what the filter 'select' applies is to be named by a string"),
        ("{{ x / 2 }}", "the operator '/'"), ("{{ x // 2 }}", "the operator '//'"),
        ("{{ 1 < x < 3 }}", "comparisons in a row are not supported; join them with 'and'"),
        ("{% set a, b = x %}", "a 'set' of several names"), ("{{ x[0]() }}", "can be called"),
        ("{% for y in x %}{{ loop.revindex }}{% endfor %}", "'loop.revindex'"), ("{#+ x #}", "with '+'"),
        ("{{ '<' + x | safe }}", "'+' beside the filter 'safe' is not supported; '~' is"),
        ("{{ 2 ** 3 }}", "the operator '**'"), ("{{ 0x1F }}", "the number '0x1F' is not supported"),
        ("{{ 1_000 }}", "the number '1_000'"), ("{{ 1e3 }}", "the number '1e3'"),
        ("{{ '\\101' }}", "the escape '\\1'"), ("{{ '\\x41' }}", "the escape '\\x'"),
        ("{{ x is nosuch }}", "the test 'nosuch' is not supported"),
        ("{{ x | select('nosuch') }}", "the test 'nosuch'"),
        ("{{ x | rejectattr('a', 'nosuch') }}", "the test 'nosuch'"),
        ("{{ nosuch() }}", "the function 'nosuch' is not supported"),
        ("{{ x.nosuch() }}", "the method 'nosuch' is not supported"),
        ("{{ strftime_now('%Y') }}", "results must not depend on the time"),
        ("{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% endif %}", "not depend on the time"),
        ("{% for x in y %}{{ loop(x) }}{% endfor %}", "recursive"),
        ("{{ f(*x) }}", "'*'"), ("{{ f(**x) }}", "'**'"), ("{{ x[1:2, 3] }}", "several indexes"),
        ("{% macro m() %}{{ varargs }}{% endmacro %}", "'varargs'"),
        ("{{ '\\N{DASH}' }}", "the escape '\\N'"),
        ("{{ '\\ud83d' }}", "no character by itself"), ("{{ 99999999999999999999 }}", "does not fit 64 bits"),
        ("{{ x | trim('a', 'b') }}", "the filter 'trim' takes at most 1 argument, not 2"),
        ("{{ x | tojson(nosuch=1) }}", "the filter 'tojson' has no argument 'nosuch'"),
        ("{{ x | replace('a') }}", "the filter 'replace' lacks its argument 'new'"),
        ("{{ x | default('a', default_value='b') }}", "has its argument 'default_value' twice"),
        ("{{ x.get() }}", "the method 'get' lacks its argument 'key'"),
        ("{{ x.get(key=1) }}", "takes no argument by name, not 'key'"),
        ("{{ x | select('eq') }}", "'eq' lacks its argument 'other'"),
        ("{{ x | map('replace', 'a') }}", "'replace' lacks its argument 'new'"),
    ])
    func unsupported(source: String, says: String) throws {
        let error = try #require(loading("line one\n\n" + source))
        #expect(error.kind == .unsupported)
        #expect(error.message.hasPrefix("chat template, line 3: "), "\(error.message)")
        #expect(error.message.contains(says), "\(error.message)")
    }

    @Test(arguments: [
        ("{{ x", "the tag that begins here has no end '}}'"), ("{% if x", "no end '%}'"), ("{# x", "comment"),
        ("{{ 'x }}", "string"), ("{% if x %}", "'if' has no end"),
        ("{% for x in y %}", "'for' has no end"),
        ("{% endif %}", "'endif' has no beginning"), ("{% else %}", "'else' has no beginning"),
        ("{{ }}", "'}}' where an expression is expected"), ("{% %}", "'%}' where a name is expected"),
        ("{{ 1 2 }}", "a number where '}}' is expected"), ("{{ (1 }}", "'}' where ')' is expected"),
        ("{{ 1) }}", "')' closes nothing"), ("{{ [1, }}", "'}' where ']' is expected"),
        ("{{ \u{2028}\u{20AC} }}", "U+20AC"),
        ("{% for 1 in x %}{% endfor %}", "a number where a name is expected"),
        ("{% set true = 1 %}", "'true' can't be assigned to"),
        ("{% break %}", "'break' outside a loop"),
        ("{% for x in y %}{% else %}{% continue %}{% endfor %}", "outside a loop"),
        ("{% for x in y %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "outside a loop"),
        ("{% macro m(a=1, b) %}{% endmacro %}", "default"), ("{% macro m(a, a) %}{% endmacro %}", "twice"),
        ("{{ f(a=1, 2) }}", "without a name"), ("{{ range(a=1, a=2) }}", "given twice"),
        ("{{ x is defined is none }}", "chained"),
        ("{{ '\\u00e' }}", "hex digits"), ("{{ 012 }}", "not a number"), ("{{ x. }}", "a name"),
        ("{{ x[] }}", "an index"),
        ("{{ x | map }}", "needs a filter's name"), ("{{ x | selectattr }}", "needs an attribute's name"),
        ("{% if x %}{% endfor %}", "'endfor' has no beginning"), ("{% set x = %}", "an expression"),
        ("{{ {1} }}", "':'"), ("{%+ if x %}{% endif %}", "'+' where a name is expected"),
        ("{% for x in y recursive %}{% endfor %}", "'recursive' where"),
    ])
    func malformed(source: String, says: String) throws {
        let error = try #require(loading("line one\n\n" + source))
        #expect(error.kind == .malformed)
        #expect(error.message.hasPrefix("chat template, line 3: "), "\(error.message)")
        #expect(error.message.contains(says), "\(error.message)")
    }

    @Test func everyKnownNameLoads() {
        for (name, filter) in Builtin.filters {
            let arguments = Array(repeating: "'a'", count: filter.required).joined(separator: ", ")
            #expect(loading("{{ x | \(name)(\(arguments)) }}") == nil, "\(name)")
        }
        for (name, test) in Builtin.tests where test.required == 0 {
            #expect(loading("{{ x is \(name) }}") == nil, "\(name)")
        }
        for (name, method) in Builtin.methods {
            let arguments = Array(repeating: "1", count: method.required).joined(separator: ", ")
            #expect(loading("{{ x.\(name)(\(arguments)) }}") == nil, "\(name)")
        }
    }

    @Test func runtimeErrorsNameTheLine() throws {
        let template = try ChatTemplate(
            source: "a\n{% for m in messages %}\n{{ m.content +\n 1 }}{% endfor %}")
        let error = try #require(
            modelError {
                _ = try template.render([ChatMessage(role: "user", content: "x")], addGenerationPrompt: true)
            })
        #expect(
            error
                == UserError(
                    .badRequest, "chat template, line 3: '+' does not work on a string and an integer"))
    }

    @Test func refusalCarriesItsMessage() throws {
        let template = try ChatTemplate(
            source:
                "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}ok"
        )
        #expect(
            try template.render([ChatMessage(role: "user", content: "x")], addGenerationPrompt: true) == "ok")
        let error = try #require(
            modelError {
                _ = try template.render([ChatMessage(role: "system", content: "")], addGenerationPrompt: true)
            })
        #expect(error.kind == .badRequest)
        #expect(error.message.hasSuffix("the template refuses this input: System role not supported"))
    }
}
