/// A value of a YAML document.
struct YAMLNode {
    package indirect enum Content {
        /// Plain is what stands without quotes; its type is for the reader to say.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    var content: Content
    /// From 1; of an alias the line of what it stands for.
    var line: Int
}

/// What keeps a text from being read.
struct YAMLFault: Error {
    var line: Int
    /// What is wrong with the text, as in "is not valid YAML: ...".
    var message: String
}
