/// JSON values without quotes: numbers, and words such as `true`.
enum BareWords {
    /// - Parameter isMeant: whether to quote a word by its first character after the sign.
    static func quoted(_ json: some Sequence<UInt8>, where isMeant: (UInt8) -> Bool) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        var (made, word) = ([UInt8](), [UInt8]())
        var (isText, isEscaped) = (false, false)
        func end() {
            let begins = word.first { $0 != UInt8(ascii: "-") }
            made += begins.map(isMeant) == true ? [quote] + word + [quote] : word
            word = []
        }
        for byte in json {
            if isText {
                made.append(byte)
                if !isEscaped, byte == quote { isText = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == quote || byte <= 0x20 || "[]{}:,".utf8.contains(byte) {
                end()
                made.append(byte)
                isText = byte == quote
            } else {
                word.append(byte)
            }
        }
        end()
        return made
    }
}
