/// The formats that outputs can have.
package enum ResultFormats {
    package static let all: [any ResultFormat] = [
        NativeResults()
    ]

    /// What an output has where nothing else is said.
    package static let standard: any ResultFormat = NativeResults()
}
