import ArgumentParser

/// For `make install`.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Print the manual page, in mdoc.", shouldDisplay: false)

    func run() throws {
        print(ManualPage(program: try .program()).text, terminator: "")
    }
}
