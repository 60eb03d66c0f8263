/// Adopts states of another writer of the same shape, so that no text is read again.
extension JSONAutomaton {
    /// The equivalent state.
    /// - Parameter name: the bytes so far of the current free name, if any.
    func adopt(_ state: Int32, of other: JSONAutomaton, name: [UInt8]) -> Int32 {
        number(
            of: other.states[Int(state)].map { place in
                var adopted = place
                adopted.frame = adopt(frame: place.frame, of: other)
                if place.kind == .fixed {
                    adopted.a = number(of: other.fixedTexts[Int(place.a)])
                    adopted.c = number(of: other.nexts[Int(place.c)])
                } else if place.kind == .freeName, place.d >= 0 {
                    adopted.d = nameSets.root(of: frames[Int(adopted.frame)].names)
                    for byte in name where adopted.d >= 0 {
                        adopted.d = nameSets.child(of: adopted.d, byte) ?? -1
                    }
                }
                return adopted
            })
    }

    private func adopt(frame: Int32, of other: JSONAutomaton) -> Int32 {
        guard frame >= 0 else { return frame }
        var adopted = other.frames[Int(frame)]
        adopted.parent = adopt(frame: adopted.parent, of: other)
        // A negative one marks an unknown name.
        let set = adopted.names >= 0 ? adopted.names : -adopted.names - 1
        let names = other.nameSets.names(of: set).reduce(0) { nameSets.adding($1, to: $0) }
        adopted.names = adopted.names >= 0 ? names : -names - 1
        return number(of: adopted)
    }
}
