/// Drafts whose metaschemas consist of vocabularies.
extension Metaschemas {
    static let draft2019 = draft(
        "2019-09", anchor: #""$recursiveAnchor": true"#,
        ["core", "applicator", "validation", "meta-data", "format", "content"],
        whole: #"""
            "properties": {"definitions": {"type": "object", "additionalProperties": {"$recursiveRef": "#"}},
            "dependencies": {"type": "object", "additionalProperties": {"anyOf": [{"$recursiveRef": "#"},
            {"$ref": "meta/validation#/$defs/stringArray"}]}}}
            """#,
        parts: [
            "core": #"""
            "properties": {"$id": {"type": "string", "format": "uri-reference", "pattern": "^[^#]*#?$"},
            "$schema": {"type": "string", "format": "uri"}, "$anchor": {"type": "string", "pattern":
            "^[A-Za-z][-A-Za-z0-9.:_]*$"}, "$ref": {"type": "string", "format": "uri-reference"},
            "$recursiveRef": {"type": "string", "format": "uri-reference"}, "$recursiveAnchor": {"type":
            "boolean"}, "$vocabulary": {"type": "object", "propertyNames": {"type": "string", "format":
            "uri"}, "additionalProperties": {"type": "boolean"}}, "$comment": {"type": "string"}, "$defs":
            {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}}}
            """#,
            "applicator": #"""
            "properties": {"additionalItems": {"$dynamicRef": "#meta"}, "unevaluatedItems":
            {"$dynamicRef": "#meta"}, "items": {"anyOf": [{"$dynamicRef": "#meta"}, {"$ref":
            "#/$defs/schemaArray"}]}, "contains": {"$dynamicRef": "#meta"}, "additionalProperties":
            {"$dynamicRef": "#meta"}, "unevaluatedProperties": {"$dynamicRef": "#meta"}, "properties":
            {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}}, "patternProperties":
            {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}, "propertyNames":
            {"format": "regex"}}, "dependentSchemas": {"type": "object", "additionalProperties":
            {"$dynamicRef": "#meta"}}, "propertyNames": {"$dynamicRef": "#meta"}, "if": {"$dynamicRef":
            "#meta"}, "then": {"$dynamicRef": "#meta"}, "else": {"$dynamicRef": "#meta"}, "allOf":
            {"$ref": "#/$defs/schemaArray"}, "anyOf": {"$ref": "#/$defs/schemaArray"}, "oneOf": {"$ref":
            "#/$defs/schemaArray"}, "not": {"$dynamicRef": "#meta"}}, "$defs": {"schemaArray": {"type":
            "array", "minItems": 1, "items": {"$dynamicRef": "#meta"}}}
            """#,
            "format": #""properties": {"format": {"type": "string"}}"#,
        ]
    ).mapValues { $0.replacing(##"{"$dynamicRef": "#meta"}"##, with: ##"{"$recursiveRef": "#"}"##) }

    static let draft2020 = draft(
        "2020-12", anchor: #""$dynamicAnchor": "meta""#,
        [
            "core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content",
        ],
        whole: #"""
            "properties": {"definitions": {"type": "object", "additionalProperties": {"$dynamicRef":
            "#meta"}}, "dependencies": {"type": "object", "additionalProperties": {"anyOf": [{"$dynamicRef":
            "#meta"}, {"$ref": "meta/validation#/$defs/stringArray"}]}}, "$recursiveAnchor": {"$ref":
            "meta/core#/$defs/anchorString"}, "$recursiveRef": {"$ref":
            "meta/core#/$defs/uriReferenceString"}}
            """#,
        parts: [
            "core": #"""
            "properties": {"$id": {"$ref": "#/$defs/uriReferenceString", "pattern": "^[^#]*#?$"},
            "$schema": {"$ref": "#/$defs/uriString"}, "$ref": {"$ref": "#/$defs/uriReferenceString"},
            "$anchor": {"$ref": "#/$defs/anchorString"}, "$dynamicRef": {"$ref":
            "#/$defs/uriReferenceString"}, "$dynamicAnchor": {"$ref": "#/$defs/anchorString"},
            "$vocabulary": {"type": "object", "propertyNames": {"$ref": "#/$defs/uriString"},
            "additionalProperties": {"type": "boolean"}}, "$comment": {"type": "string"}, "$defs":
            {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}}}, "$defs":
            {"anchorString": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}, "uriString":
            {"type": "string", "format": "uri"}, "uriReferenceString": {"type": "string", "format":
            "uri-reference"}}
            """#,
            "applicator": #"""
            "properties": {"prefixItems": {"$ref": "#/$defs/schemaArray"}, "items": {"$dynamicRef":
            "#meta"}, "contains": {"$dynamicRef": "#meta"}, "additionalProperties": {"$dynamicRef":
            "#meta"}, "properties": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}},
            "patternProperties": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"},
            "propertyNames": {"format": "regex"}}, "dependentSchemas": {"type": "object",
            "additionalProperties": {"$dynamicRef": "#meta"}}, "propertyNames": {"$dynamicRef": "#meta"},
            "if": {"$dynamicRef": "#meta"}, "then": {"$dynamicRef": "#meta"}, "else": {"$dynamicRef":
            "#meta"}, "allOf": {"$ref": "#/$defs/schemaArray"}, "anyOf": {"$ref": "#/$defs/schemaArray"},
            "oneOf": {"$ref": "#/$defs/schemaArray"}, "not": {"$dynamicRef": "#meta"}}, "$defs":
            {"schemaArray": {"type": "array", "minItems": 1, "items": {"$dynamicRef": "#meta"}}}
            """#,
            "unevaluated": #"""
            "properties": {"unevaluatedItems": {"$dynamicRef": "#meta"}, "unevaluatedProperties":
            {"$dynamicRef": "#meta"}}
            """#,
            "format-annotation": #""properties": {"format": {"type": "string"}}"#,
            "format-assertion": #""properties": {"format": {"type": "string"}}"#,
        ])

    /// Common parts of both.
    private static let shared = [
        "content": #"""
        "properties": {"contentEncoding": {"type": "string"}, "contentMediaType": {"type": "string"},
        "contentSchema": {"$dynamicRef": "#meta"}}
        """#,
        "meta-data": #"""
        "properties": {"title": {"type": "string"}, "description": {"type": "string"}, "default": true,
        "deprecated": {"type": "boolean"}, "readOnly": {"type": "boolean"}, "writeOnly": {"type":
        "boolean"}, "examples": {"type": "array", "items": true}}
        """#,
        "validation": #"""
        "properties": {"type": {"anyOf": [{"$ref": "#/$defs/simpleTypes"}, {"type": "array", "items":
        {"$ref": "#/$defs/simpleTypes"}, "minItems": 1, "uniqueItems": true}]}, "const": true, "enum":
        {"type": "array", "items": true}, "multipleOf": {"type": "number", "exclusiveMinimum": 0},
        "maximum": {"type": "number"}, "exclusiveMaximum": {"type": "number"}, "minimum": {"type":
        "number"}, "exclusiveMinimum": {"type": "number"}, "maxLength": {"$ref":
        "#/$defs/nonNegativeInteger"}, "minLength": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
        "pattern": {"type": "string", "format": "regex"}, "maxItems": {"$ref":
        "#/$defs/nonNegativeInteger"}, "minItems": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
        "uniqueItems": {"type": "boolean"}, "maxContains": {"$ref": "#/$defs/nonNegativeInteger"},
        "minContains": {"$ref": "#/$defs/nonNegativeInteger"}, "maxProperties": {"$ref":
        "#/$defs/nonNegativeInteger"}, "minProperties": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
        "required": {"$ref": "#/$defs/stringArray"}, "dependentRequired": {"type": "object",
        "additionalProperties": {"$ref": "#/$defs/stringArray"}}}, "$defs": {"nonNegativeInteger":
        {"type": "integer", "minimum": 0}, "nonNegativeIntegerDefault0": {"$ref":
        "#/$defs/nonNegativeInteger"}, "simpleTypes": {"enum": ["array", "boolean", "integer", "null",
        "number", "object", "string"]}, "stringArray": {"type": "array", "items": {"type": "string"},
        "uniqueItems": true}}
        """#,
    ]

    /// - Parameters:
    ///   - names: of the metaschema's vocabularies.
    ///   - whole: the metaschema's own keywords.
    ///   - parts: each vocabulary's keywords.
    private static func draft(
        _ version: String, anchor: String, _ names: [String], whole: String, parts: [String: String]
    ) -> [String: String] {
        let base = "https://json-schema.org/draft/\(version)"
        func text(_ path: String, _ rest: String) -> String {
            #"""
            {"$schema": "\#(base)/schema", "$id": "\#(base)/\#(path)", \#(anchor),
            "type": ["object", "boolean"], \#(rest)}
            """#.replacing(each: "\n", with: " ")
        }
        let references = names.map { #"{"$ref": "meta/\#($0)"}"# }.joined(separator: ", ")
        var texts = ["\(base)/schema": text("schema", #""allOf": [\#(references)], \#(whole)"#)]
        for (name, part) in parts.merging(shared, uniquingKeysWith: { own, _ in own }) {
            texts["\(base)/meta/\(name)"] = text("meta/\(name)", part)
        }
        return texts
    }
}
