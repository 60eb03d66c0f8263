/// A string as a dictionary key, equal only to the same bytes (Swift's own `==` takes canonically
/// equivalent strings as equal).
struct ExactText: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: ExactText, b: ExactText) -> Bool { sameBytes(a.text, b.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

func sameBytes(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8)
}

/// Order by code points, which is the order of the UTF-8 bytes.
func compareBytes(_ a: String, _ b: String) -> Int {
    var x = a.utf8.makeIterator()
    var y = b.utf8.makeIterator()
    while true {
        switch (x.next(), y.next()) {
        case (nil, nil): return 0
        case (nil, _): return -1
        case (_, nil): return 1
        case (let p?, let q?) where p != q: return p < q ? -1 : 1
        default: continue
        }
    }
}
