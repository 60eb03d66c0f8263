extension ReportPage {
    /// The table and the sheet with all of one result; narrow screens, print.
    static let styleOfTable = #"""
        .tools { display: flex; flex-wrap: wrap; gap: 10px 12px; align-items: end; margin-bottom: 10px; }
        .tools label { font-size: 13px; color: var(--muted); display: grid; gap: 3px; }
        .tools .grow { flex: 1 1 260px; }
        input, select, button { font: inherit; color: var(--text); }
        input, select {
          background: var(--surface); border: 1px solid var(--control); border-radius: 8px; padding: 7px 10px; min-height: 40px;
          width: 100%;
        }
        button {
          background: var(--surface); border: 1px solid var(--control); border-radius: 8px; padding: 6px 13px; min-height: 36px;
          cursor: pointer;
        }
        button:hover { background: var(--soft); }
        button:disabled { color: var(--muted); cursor: default; background: none; }
        .plain { background: none; border: 0; padding: 0; min-height: 24px; font-weight: 600; color: inherit; }
        .count { margin: 0 0 8px; font-size: 13.5px; color: var(--muted); min-height: 21px; }

        .grid {
          --columns: 60px minmax(90px, 1fr) minmax(0, 3fr) minmax(0, 4fr) 138px 66px 66px 78px;
          border: 1px solid var(--line); border-radius: 10px; background: var(--surface); overflow: auto;
          height: min(72vh, 760px); position: relative; font-size: 14px; contain: strict;
        }
        .grid.short { height: auto; max-height: min(72vh, 760px); contain: none; }
        .grid.no-prompts { --columns: 60px minmax(90px, 1fr) minmax(0, 6fr) 138px 66px 66px 78px; }
        .row { display: grid; grid-template-columns: var(--columns); column-gap: 14px; padding: 0 16px; align-items: center; }
        .head {
          position: sticky; top: 0; z-index: 1; background: var(--surface); border-bottom: 1px solid var(--line); height: 42px;
          color: var(--muted); font-size: 13px; font-weight: 600;
        }
        .head [aria-sort] .plain { color: var(--accent); }
        .head .n, .body .n { text-align: right; justify-self: end; font-variant-numeric: tabular-nums; }
        .body { position: relative; }
        .body .row { position: absolute; left: 0; right: 0; height: 44px; border-bottom: 1px solid var(--line); cursor: pointer; }
        .body .row:hover { background: var(--soft); }
        .body .row:focus-visible { outline-offset: -3px; }
        .body .row > * { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; min-width: 0; }
        .cell-answer.bad { color: var(--bad); }
        .empty { padding: 28px 16px; text-align: center; color: var(--muted); }
        .sort-small { display: none !important; }

        dialog {
          border: 1px solid var(--line); background: var(--surface); color: var(--text); padding: 0; margin: 0 0 0 auto;
          width: min(760px, 100vw); height: 100dvh; max-width: none; max-height: none; box-shadow: 0 0 40px #0005;
        }
        dialog::backdrop { background: #0007; }
        .sheet { display: flex; flex-direction: column; height: 100%; }
        .bar-top { display: flex; gap: 8px; align-items: center; padding: 12px 20px; border-bottom: 1px solid var(--line); flex-wrap: wrap; }
        .bar-top h2 { margin: 0 auto 0 0; font-size: 17px; }
        .inside { padding: 4px 20px 28px; overflow: auto; flex: 1; }
        .inside h3 { margin: 18px 0 6px; }
        .inside pre {
          margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13.5px; line-height: 1.55; background: var(--page);
          border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px;
        }
        .inside pre.bad { background: var(--bad-soft); color: var(--bad); border-color: transparent; }
        mark { background: var(--mark); color: var(--mark-text); border-radius: 2px; }

        @media (max-width: 760px) {
          header, main, footer { padding-left: 16px; padding-right: 16px; }
          header { padding-top: 24px; }
          h1 { font-size: 23px; }
          .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; }
          .card { padding: 11px 12px; }
          .card dd { font-size: 19px; }
          th, td { padding-right: 6px; }
          td.n, th.n { padding-right: 4px; }
          .bar-top h2 { flex-basis: 100%; }
          #close { margin-left: auto; }
          .panels { grid-template-columns: minmax(0, 1fr); }
          .panel { padding: 14px 14px 10px; }
          .head-group { display: none; }
          .sort-small { display: grid !important; flex: 1 1 130px; }
          .tools .filter { flex: 1 1 130px; }
          .body .row {
            grid-template: "id status" auto "text text" auto / minmax(0, 1fr) auto; height: 68px; padding: 8px 14px; row-gap: 2px;
          }
          .body .cell-id { grid-area: id; font-weight: 600; }
          .body .cell-status { grid-area: status; }
          .body .cell-answer { grid-area: text; }
          .body .cell-number, .body .cell-prompt, .body .n { display: none; }
        }
        @media (prefers-reduced-motion: no-preference) {
          button, .body .row { transition: background-color 0.12s; }
        }
        @media (forced-colors: active) {
          .badge, .card, .panel { border: 1px solid; }
          svg .bar, svg .area { fill: Highlight; }
        }
        @media print {
          :root { --page: #fff; --surface: #fff; --text: #000; --muted: #444; --line: #bbb; }
          #table, .skip, details:not([open]), dialog { display: none; }
          .panel, .card { break-inside: avoid; }
          body { font-size: 12px; }
        }
        """#
}
