import ArgumentParser
import Jobs

/// Writes the part of the Python package that lists the settings.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Write the Python package's list of settings, from the program's.")

    func run() throws { print(Self.module, terminator: "") }

    static var module: String {
        // A schema has types of its own in Python, and `choices` has a method of its own.
        let asked = JobKey.all(in: .llm).filter { !["schema", "choices"].contains($0.name) }
        let known = ["schema"] + (asked + JobKey.ofModels).map(\.name)
        let others = JobKey.all.filter { !known.contains($0.name) }
        return """
            \"""Settings by name. "make settings" writes this file from the program's table: change that.\"""

            from __future__ import annotations

            from typing import TYPE_CHECKING, Mapping, Sequence, TypedDict

            if TYPE_CHECKING:
                from os import PathLike

            #: Settings of answers, of a loaded model, of `map`, and of whole jobs, which "phibatch help job" describes.
            \(dictionary("Asked", asked, end: " | None"))
            \(dictionary("LoadSettings", JobKey.ofModels, end: " | None"))
            \(dictionary("MapSettings", others.filter { $0.places.contains(.map) }))
            \(dictionary("JobSettings", others.filter { !$0.places.contains(.map) }))
            #: Fields of a line that are settings.
            \(tuple("LINE", JobKey.all.filter { LineReading.names.contains($0.name) }))
            \(tuple("PATHS", JobKey.all.filter { $0.form == .path }))
            """
    }

    private static func dictionary(_ name: String, _ keys: [JobKey], end: String = "") -> String {
        let members = keys.map { "\"\($0.name)\": \"\($0.form.rawValue)\(end)\"," }
        return filled("\(name) = TypedDict(\"\(name)\", {\n   ", members, "    ")
            + "}, total=False)  # fmt: skip"
    }

    private static func tuple(_ name: String, _ keys: [JobKey]) -> String {
        filled("\(name) = (", keys.map { "\"\($0.name)\"," } + [")  # fmt: skip"], "    ")
    }

    /// Returns words in lines of at most 120 characters.
    private static func filled(_ start: String, _ words: [String], _ indent: String) -> String {
        var (text, line) = ("", start)
        for word in words {
            if (line.split(at: "\n").last ?? "").count + word.count < 120 {
                line += " " + word
            } else {
                text += line + "\n"
                line = indent + word
            }
        }
        return text + line + "\n"
    }
}
