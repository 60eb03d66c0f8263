extension JSONValue {
    /// Parses text that has exactly one value.
    package init(parsing text: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONFault) {
        self = try JSONScanner.value(of: text, limits: limits)
    }

    package init(parsing text: [UInt8], limits: JSONLimits) throws(JSONFault) {
        self = try text.withUnsafeBytes { bytes in
            Result { () throws(JSONFault) in try JSONScanner.value(of: bytes, limits: limits) }
        }.get()
    }
}
