extension ReportPage {
    /// Colors, text, cards and charts; the colors keep WCAG's contrasts, light and dark.
    static let styleOfPage = #"""
        :root {
          color-scheme: light dark;
          --page: #f6f7f8; --surface: #ffffff; --text: #1b1f24; --muted: #59616b; --line: #dfe3e8;
          --control: #868e99; --accent: #2456c4; --on-accent: #ffffff; --bar: #4a78dd; --soft: #e9effc;
          --good: #1a6e42; --bad: #b3261e; --bad-bar: #d0493f; --bad-soft: #fdecea; --warn: #7d5200;
          --warn-soft: #fdf3dd; --mark: #ffe08a; --mark-text: #1b1f24;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #131518; --surface: #1b1e23; --text: #e8eaed; --muted: #a4acb7; --line: #31363e;
            --control: #79828f; --accent: #92b4ff; --on-accent: #10131a; --bar: #6f9bf5; --soft: #232c3f;
            --good: #74d6a4; --bad: #ff958c; --bad-bar: #f0776d; --bad-soft: #3a2220; --warn: #ecbc66;
            --warn-soft: #352b18; --mark: #6b5511; --mark-text: #fff6da;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body {
          margin: 0; background: var(--page); color: var(--text);
          font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
        }
        header, main, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
        header { padding-top: 40px; }
        footer { padding: 8px 24px 48px; color: var(--muted); font-size: 13px; }
        h1, h2, h3 { line-height: 1.25; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
        h1 { font-size: 28px; letter-spacing: -0.01em; }
        h2 { font-size: 19px; margin: 44px 0 14px; }
        h3 { font-size: 15px; }
        p { margin: 0 0 8px; }
        code, pre, .mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
        a { color: var(--accent); }
        .muted { color: var(--muted); }
        .about { margin: 8px 0 0; color: var(--muted); overflow-wrap: anywhere; }
        .skip {
          position: absolute; left: -9999px; padding: 8px 14px; background: var(--accent); color: var(--on-accent);
        }
        .skip:focus { left: 16px; top: 8px; z-index: 5; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        [hidden] { display: none !important; }

        .badge {
          display: inline-block; padding: 1px 9px; border-radius: 999px; font-size: 12.5px; font-weight: 600;
          background: var(--soft); color: var(--accent); white-space: nowrap; vertical-align: middle;
        }
        .badge.bad { background: var(--bad-soft); color: var(--bad); }
        .badge.warn { background: var(--warn-soft); color: var(--warn); }

        .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(158px, 1fr)); gap: 12px; margin: 24px 0 0; }
        .card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; }
        .card dt { color: var(--muted); font-size: 13px; }
        .card dd { margin: 2px 0 0; font-size: 23px; font-weight: 650; letter-spacing: -0.01em;
          white-space: nowrap; font-variant-numeric: tabular-nums; }
        .card dd.bad { color: var(--bad); }
        .card dd + dd { font-size: 13px; white-space: normal; font-weight: 400; color: var(--muted); letter-spacing: 0; }

        .notes { margin: 20px 0 0; padding: 12px 16px 12px 34px; background: var(--warn-soft); color: var(--warn);
          border-radius: 10px; overflow-wrap: anywhere; }
        .notes li + li { margin-top: 4px; }

        .panels { display: grid; align-items: start; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px; }
        .panel {
          margin: 0; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px 12px;
          min-width: 0; position: relative;
        }
        .wide { grid-column: 1 / -1; }
        .panel > p { margin: 2px 0 8px; color: var(--muted); font-size: 13.5px; }
        .panel svg { display: block; width: 100%; margin-top: 10px; overflow: visible; }
        svg text { fill: var(--muted); font-size: 12px; font-family: inherit; font-variant-numeric: tabular-nums; }
        svg .grid { stroke: var(--line); stroke-width: 1; }
        svg .axis { stroke: var(--control); stroke-width: 1; }
        svg .bar { fill: var(--bar); }
        svg .bar.bad { fill: var(--bad-bar); }
        svg .hit { fill: transparent; }
        svg .hit:hover { fill: var(--text); fill-opacity: 0.07; }
        svg .area { fill: var(--bar); fill-opacity: 0.22; }
        svg .curve { fill: none; stroke: var(--bar); stroke-width: 2; stroke-linejoin: round; }
        svg .break { stroke: var(--control); stroke-width: 1; stroke-dasharray: 3 4; }
        svg .mark { stroke: var(--text); stroke-width: 1; stroke-dasharray: 2 3; }
        svg .mark-label { fill: var(--text); }
        .tip {
          position: absolute; pointer-events: none; padding: 4px 9px; border-radius: 6px; font-size: 12.5px;
          background: var(--text); color: var(--surface); white-space: nowrap; z-index: 2;
        }
        details { margin-top: 8px; font-size: 13.5px; }
        summary { cursor: pointer; color: var(--accent); width: fit-content; }
        .scroll { overflow: auto; max-height: 320px; margin-top: 6px; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th, td { padding: 5px 10px 5px 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top;
          overflow-wrap: anywhere; }
        th { font-weight: 600; color: var(--muted); font-size: 13px; }
        td.n, th.n { text-align: right; padding-right: 10px; white-space: nowrap; }
        .parts td:first-child { white-space: nowrap; }
        .error p { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 12px 0 4px; }
        .error ul { margin: 0; padding-left: 20px; font-size: 13.5px; overflow-wrap: anywhere; }
        .show { min-height: 30px; padding: 2px 11px; font-size: 13.5px; margin-left: auto; }
        """#
}
