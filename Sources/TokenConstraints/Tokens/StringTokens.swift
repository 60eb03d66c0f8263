import BatchEngine

/// The effect of each token in a JSON string of any text, between two scalars: it stays in the string, or ends it and
/// continues after it.
struct StringTokens: Sendable {
    /// A token that ends the string.
    struct Exit: Sendable {
        let token: Int32
        /// Complete scalars before the quote.
        let scalars: Int
    }

    /// Tokens that stay and end between two scalars; by the number of scalars, at most `most`.
    let staying: [TokenMask]
    /// All of `staying`.
    let stayingAll: TokenMask
    /// Tokens that stay and end within a scalar or an escape, with the complete scalars before.
    let within: [Exit]
    let withinAll: TokenMask
    /// All that stay.
    let all: TokenMask
    /// A trie of the texts after the quote.
    let exits: TrieNodes
    /// The tokens of each text in `exits`, by its index. Those with nothing after the quote are in `bare`.
    let exitTokens: [[Exit]]
    let bare: [Exit]
    /// All tokens that end a string, by the text before the quote: first those without one, and then those of the texts
    /// in `beginnings`.
    let exitsByBeginning: [Int32]
    let beginnings: TrieNodes
    /// The most scalars that a token has.
    let most: Int

    init(
        _ tokens: some Sequence<(Int32, ArraySlice<UInt8>)>, count: Int, allowsAnySpelling: Bool
    ) {
        var staying: [TokenMask] = []
        var within: [Exit] = []
        var bare: [Exit] = []
        var after: [([UInt8], Exit)] = []
        var most = 0
        var before: [(ArraySlice<UInt8>, Int32)] = []
        for (token, text) in tokens {
            var reader = StringReader(allowsAnySpelling: allowsAnySpelling)
            var place = text.startIndex
            while place < text.endIndex, reader.takes(text[place]) { place += 1 }
            if place == text.endIndex {
                most = max(most, reader.scalars)
                if reader.isBetweenScalars {
                    while staying.count <= reader.scalars { staying.append(TokenMask(count: count)) }
                    staying[reader.scalars][token] = true
                } else {
                    within.append(Exit(token: token, scalars: reader.scalars))
                }
            } else if text[place] == UInt8(ascii: "\""), reader.isBetweenScalars {
                let exit = Exit(token: token, scalars: reader.scalars)
                most = max(most, reader.scalars)
                before.append((text[..<place], token))
                let rest = text[(place + 1)...]
                if rest.isEmpty { bare.append(exit) } else { after.append((Array(rest), exit)) }
            }
        }
        after.sort {
            $0.0 == $1.0 ? $0.1.token < $1.1.token : $0.0.lexicographicallyPrecedes($1.0)
        }
        before.sort { $0.0.lexicographicallyPrecedes($1.0) }
        exitsByBeginning = before.map(\.1)
        beginnings = TrieNodes(before.lazy.map(\.0).filter { !$0.isEmpty })
        var texts: [ArraySlice<UInt8>] = []
        var exitTokens: [[Exit]] = []
        for (text, exit) in after {
            if texts.last.map({ Array($0) != text }) ?? true {
                texts.append(text[...])
                exitTokens.append([])
            }
            exitTokens[exitTokens.count - 1].append(exit)
        }
        var all = TokenMask(count: count)
        for mask in staying { all.formUnion(mask) }
        self.staying = staying
        stayingAll = all
        self.within = within
        withinAll = TokenMask(within.map(\.token), count: count)
        all.formUnion(withinAll)
        self.all = all
        self.bare = bare
        exits = TrieNodes(texts)
        self.exitTokens = exitTokens
        self.most = most
    }
}
