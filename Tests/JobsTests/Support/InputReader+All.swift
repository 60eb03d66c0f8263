@testable import Jobs

extension InputReader {
    /// Reads all records.
    func all() throws -> [InputRecord] {
        var (reader, records) = (self, [InputRecord]())
        while let record = try reader.next() { records.append(record) }
        return records
    }
}
