import Testing

@testable import phibatch

@Suite struct HelpTextTests {
    private let source = """
        A paragraph over
        two lines with `a` and `a b`.

        HEADING:
          literal  text

          more of it

        - one :: first
          of all
        - second-thing :: .dots
        """

    @Test func blocks() {
        #expect(
            HelpText(source).blocks == [
                .paragraph("A paragraph over two lines with `a` and `a b`."), .heading("HEADING:"),
                .literal(["literal  text", "", "more of it"]),
                .items([.init(term: "one", text: "first of all"), .init(term: "second-thing", text: ".dots")]
                ),
            ])
    }

    @Test func onATerminal() {
        #expect(
            HelpText(source).shown(columns: 24) == """
                A paragraph over two
                lines with a and "a b".

                HEADING:
                  literal  text

                  more of it

                  one           first of all
                  second-thing  .dots
                """)
    }
}
