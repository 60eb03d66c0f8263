/// Formats bytes as "2.1 GB", "35 MB": decimal, as for disks and in job files.
package func byteText(_ bytes: Int) -> String {
    let megabytes = Double(bytes) / 1e6
    guard megabytes >= 999.5 else { return "\(Int(megabytes.rounded())) MB" }
    let tenths = Int((megabytes / 100).rounded())
    return "\(tenths / 10).\(tenths % 10) GB"
}
