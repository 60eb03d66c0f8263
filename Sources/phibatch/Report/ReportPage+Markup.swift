extension ReportPage {
    /// The page before its script fills it.
    static let markup = #"""
        <a class="skip" href="#table">To the results</a>
        <header>
          <h1 id="title"></h1>
          <p class="about" id="about"></p>
        </header>
        <main>
          <noscript><p class="notes">This page draws itself with its own script, and scripts are turned off here.</p></noscript>
          <section aria-labelledby="summary-title">
            <h2 class="hidden" id="summary-title">Summary</h2>
            <dl class="cards" id="cards"></dl>
            <ul class="notes" id="notes" hidden></ul>
          </section>
          <section aria-labelledby="throughput-title">
            <h2 id="throughput-title">Throughput</h2>
            <div class="panels" id="throughput"></div>
          </section>
          <section aria-labelledby="lengths-title">
            <h2 id="lengths-title">Lengths</h2>
            <div class="panels" id="lengths"></div>
          </section>
          <section aria-labelledby="latency-title">
            <h2 id="latency-title">Latency</h2>
            <div class="panels" id="latency"></div>
          </section>
          <section aria-labelledby="ends-title">
            <h2 id="ends-title">How results ended</h2>
            <div class="panels" id="ends"></div>
          </section>
          <section aria-labelledby="table-title" id="table" tabindex="-1">
            <h2 id="table-title">Results</h2>
            <form class="tools" id="tools" role="search" aria-label="Results">
              <label class="grow">Search <input type="search" id="query" autocomplete="off" spellcheck="false"></label>
              <label class="filter">Show <select id="filter"></select></label>
              <label class="sort-small">Sort by <select id="sort"></select></label>
            </form>
            <p class="count" id="count" role="status" aria-live="polite">Loading</p>
            <div class="grid" id="grid" role="grid" aria-labelledby="table-title" aria-describedby="keys">
              <div role="rowgroup" class="head-group"><div role="row" class="row head" id="head" aria-rowindex="1"></div></div>
              <div role="rowgroup" class="body" id="body"></div>
            </div>
            <p class="hidden" id="keys">Arrow keys move between rows, Enter opens one.</p>
          </section>
          <section aria-labelledby="settings-title" id="settings" hidden>
            <h2 id="settings-title">Settings</h2>
            <div class="panel"><details><summary>What the results depend on</summary>
              <div class="scroll" tabindex="0" role="region" aria-labelledby="settings-title"><table>
                <thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
                <tbody id="settings-rows"></tbody>
              </table></div></details></div>
          </section>
        </main>
        <footer id="footer"></footer>
        <dialog id="detail" aria-labelledby="detail-title">
          <div class="sheet">
            <div class="bar-top">
              <h2 id="detail-title"></h2>
              <button type="button" id="previous">Previous</button>
              <button type="button" id="next">Next</button>
              <button type="button" id="close" autofocus>Close</button>
            </div>
            <div class="inside" id="inside" tabindex="0"></div>
          </div>
        </dialog>
        """#
}
