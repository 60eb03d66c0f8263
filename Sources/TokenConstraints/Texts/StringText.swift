/// The contents of JSON strings: an automaton over their JSON text (escapes and all, without the quotes), and bounds
/// on the number of scalars, which are counted beside it.
///
/// Whoever writes keeps a state and the number of whole scalars so far. A way on is open if `fewestBytes` has a
/// number there.
package protocol StringText: AnyObject, Sendable {
    var contents: MachineText { get }
    var minLength: Int { get }
    var maxLength: Int? { get }
    /// Whether `contents` is every string, in every spelling that JSON allows (lone surrogates apart).
    var isAny: Bool { get }
    /// Whether bounds and contents can't get into each other's way: then `fewestBytes` need be asked only where
    /// `maxLength` is reached.
    var isFree: Bool { get }
    /// Whether bounds are in the way of none of so many scalars after `count`.
    func isFree(from count: Int, by scalars: Int) -> Bool
    /// Bytes of the shortest way to an end, the closing quote left out; 0 where the string may end, nil if there
    /// is no way. Within a scalar `count` is that of the scalars before it.
    func fewestBytes(_ state: Int32, count: Int) -> Int?
}
