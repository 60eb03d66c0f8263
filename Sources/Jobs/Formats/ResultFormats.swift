/// The formats that outputs can have.
package enum ResultFormats {
    package static let all: [any ResultFormat] = [
        NativeResults(), JSONArrayResults(), OpenAIResults(), DelimitedResults.csv, DelimitedResults.tsv,
        ParquetResults(),
    ]

    package static func named(_ name: String) -> (any ResultFormat)? { all.first { $0.name == name } }

    /// What an output has where nothing else is said.
    package static let standard: any ResultFormat = NativeResults()
}
