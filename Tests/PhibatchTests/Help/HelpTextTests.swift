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

    @Test func inMdoc() {
        var page = ManualText()
        page.append(HelpText(source))
        page.append(".dot. 'Quoted' --x \\n")
        #expect(
            page.text == """
                A paragraph over two lines with \\fBa\\fP and \\fBa\\fP \\fBb\\fP.
                .Pp
                Heading:
                .Bd -literal -offset indent
                literal  text

                more of it
                .Ed
                .Bl -tag -width Ds
                .It \\fBone\\fP
                first of all
                .It \\fBsecond\\-thing\\fP
                \\&.dots
                .El
                \\&.dot.
                \\(aqQuoted\\(aq \\-\\-x \\en

                """)
    }
}
