import BatchPipeline
import Essentials
import OperatingSystem

/// A report as one HTML file.
///
///     head, style, an empty page | numbers as JSON | script | rows as JSON, in pieces
///
/// The script fills the page as soon as it has the numbers; the rows come after it, so that charts stand before a
/// large file is read to its end. Nothing from the results is HTML: it is JSON without `<`, `>` and `&`, which the
/// script puts into text nodes. The page's own policy allows this one style and this one script, by their hashes,
/// and nothing else, no network at all.
struct ReportPage {
    /// All reports begin so; by this they are known.
    static let head = "<!doctype html>\n<!-- phibatch report 1 -->\n"
    /// Rows of a piece. A smaller one is quicker to open, and a larger one to search.
    static let pieceLength = 500

    let report: ResultReport
    /// The name of the results' file.
    let name: String
    let model: String?

    init(_ report: ResultReport, name: String, model: String?) {
        (self.report, self.name, self.model) = (report, name, model)
    }

    /// - Returns: how many bytes it has.
    func write(to path: String) throws -> Int {
        let file = try ReportFile(path, head: Array(Self.head.utf8))
        do {
            let data = ReportData(report, name: name, model: model)
            try file.write(Array(start.utf8))
            try file.write(Self.block("id=\"report\"", data.json))
            try file.write(Array("<script>\(Self.script)</script>\n".utf8))
            var piece = ReportRows(report.statistics, hasPrompts: report.hasPrompts)
            func writePiece() throws {
                try file.write(Self.block("class=\"rows\"", piece.heads))
                try file.write(Self.block("class=\"texts\"", piece.texts))
                try file.write(Self.block("class=\"values\"", piece.values))
                piece.removeAll()
            }
            try report.forEachRow { row in
                piece.add(row)
                if piece.count == Self.pieceLength { try writePiece() }
            }
            if piece.count > 0 { try writePiece() }
            try file.write(Array("</body>\n</html>\n".utf8))
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
        return file.byteCount
    }

    // Each is a file in `Page`, which the package manager puts into the program.
    /// Text, cards and charts; the table and the sheet with all of one result. The colors keep WCAG's contrasts, light and dark.
    static let style = "\n" + text(PackageResources.page_css, PackageResources.table_css)
    /// Nodes and numbers as text; charts as SVG, with their numbers as a table beside them; which charts there are; the
    /// rows' data and the search in it; the table, of which only the rows in sight are nodes; one result on a sheet.
    static let script =
        "\n"
        + text(
            PackageResources.base_js, PackageResources.charts_js, PackageResources.panels_js,
            PackageResources.rows_js, PackageResources.table_js, PackageResources.detail_js)

    private static func text(_ files: [UInt8]...) -> String {
        String(decoding: files.joined(), as: UTF8.self)
    }

    private var start: String {
        """
        \(Self.head)<html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>phibatch report</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        \(Self.text(PackageResources.markup_html))
        """
    }

    private static var policy: String {
        "default-src 'none'; script-src \(hash(script)); style-src \(hash(style)); base-uri 'none'; "
            + "form-action 'none'"
    }

    private static func hash(_ text: String) -> String {
        "'sha256-\(Data(SHA.sha256(of: text.utf8)).base64EncodedString())'"
    }

    /// JSON as a block that is not run. In it, `<`, `>` and `&` stand in strings only, and an escape says the same.
    private static func block(_ attributes: String, _ json: [UInt8]) -> [UInt8] {
        var bytes = Array("<script type=\"application/json\" \(attributes)>".utf8)
        bytes.reserveCapacity(json.count + json.count / 64 + 100)
        for byte in json {
            switch byte {
            case UInt8(ascii: "<"): bytes += "\\u003c".utf8
            case UInt8(ascii: ">"): bytes += "\\u003e".utf8
            case UInt8(ascii: "&"): bytes += "\\u0026".utf8
            default: bytes.append(byte)
            }
        }
        bytes += "</script>\n".utf8
        return bytes
    }
}
