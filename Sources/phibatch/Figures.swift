import Essentials

func rounded(_ value: Double) -> String {
    let tenths = Int((min(value, 1e12) * 10).rounded())
    return tenths >= 1000 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
}

/// 0.0123 as 12 ms.
func span(_ seconds: Double) -> String {
    seconds < 0.1 ? "\(Int((seconds * 1000).rounded())) ms" : duration(seconds)
}

/// 1011 as 1,011.
func grouped(_ value: Int) -> String {
    var text = String(value.magnitude)
    var index = text.count - 3
    while index > 0 {
        text.insert(",", at: text.index(text.startIndex, offsetBy: index))
        index -= 3
    }
    return value < 0 ? "-" + text : text
}

/// 37 seconds as 0:37, and 5025 as 1:23:45.
func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e12)).rounded(.up))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
}

func duration(_ seconds: Double) -> String {
    guard seconds >= 60 else { return "\(rounded(seconds)) s" }
    let whole = Int(min(seconds, 1e12).rounded())
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest)) h" : "\(minutes):\(two(rest)) min"
}
