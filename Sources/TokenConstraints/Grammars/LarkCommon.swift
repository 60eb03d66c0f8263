/// The terminals that `%import common.NAME` brings, as regular expressions.
enum LarkCommon {
    private static let decimal = #"([0-9]+\.[0-9]*|\.[0-9]+)"#
    private static let exponent = "([eE][+-]?[0-9]+)"
    private static let float = "([0-9]+\(exponent)|\(decimal)\(exponent)?)"

    static let patterns: [String: String] = [
        "DIGIT": "[0-9]",
        "HEXDIGIT": "[0-9A-Fa-f]",
        "INT": "[0-9]+",
        "SIGNED_INT": "[+-]?[0-9]+",
        "DECIMAL": decimal,
        "FLOAT": float,
        "SIGNED_FLOAT": "[+-]?\(float)",
        "NUMBER": "\(float)|[0-9]+",
        "SIGNED_NUMBER": "[+-]?(\(float)|[0-9]+)",
        "ESCAPED_STRING": #""([^"\\\n]|\\[^\n])*""#,
        "LCASE_LETTER": "[a-z]",
        "UCASE_LETTER": "[A-Z]",
        "LETTER": "[A-Za-z]",
        "WORD": "[A-Za-z]+",
        "CNAME": "[A-Za-z_][A-Za-z0-9_]*",
        "WS_INLINE": "[ \\t]+",
        "WS": "[ \\t\\f\\r\\n]+",
        "CR": "\\r",
        "LF": "\\n",
        "NEWLINE": "(\\r?\\n)+",
        "SH_COMMENT": "#[^\\n]*",
        "CPP_COMMENT": "//[^\\n]*",
        "C_COMMENT": #"/\*([^*]|\*+[^*/])*\*+/"#,
        "SQL_COMMENT": "--[^\\n]*",
    ]
}
