@testable import BatchPipeline
@testable import Jobs

/// A second format: id and text, with a tab between them. It can't carry what a result is known by.
struct TabbedResults: ResultFormat {
    let name = "tabbed"

    var head: [UInt8] { Array("id\ttext\n".utf8) }

    func write(_ piece: ResultPiece, to output: inout [UInt8]) {
        let text =
            switch piece.results[0].content {
            case .made(let made): made.cell("text") ?? ""
            case .failed(let failure): "(\(failure.error.message))"
            }
        // A text may have line feeds: a result is not always a line.
        output += "\(piece.place.key.id)\t\(text)\n".utf8
    }
}

extension TestRun {
    /// What an undisturbed run writes in the second format.
    var tabbed: [UInt8] {
        var bytes = Array("id\ttext\n".utf8)
        for line in lines {
            switch line.result.content {
            case .made(let made): bytes += "\(line.id)\t\(made.cell("text") ?? "")\n".utf8
            case .failed(let failure): bytes += "\(line.id)\t(\(failure.error.message))\n".utf8
            }
        }
        return bytes
    }
}
