// Charts: a specification that Altair wrote, the rows it shows, and the table behind it.

const specifications = JSON.parse(document.getElementById("specifications").textContent);

const colourOfRun = (run) => `var(--c${(run % 10) + 1})`;

// A figure with a chart that can be drawn again with other rows, and a table of the rows it shows.
class Chart {
  constructor(name, caption, columns) {
    this.name = name;
    this.caption = caption;
    this.rows = [];
    this.host = element("div", { class: "chart" });
    this.figure = element("figure", { style: "margin:0" }, this.host, tableBehind(caption, columns, () => this.rows));
  }

  async draw(rows, labels = null) {
    this.rows = rows;
    const specification = structuredClone(specifications[this.name]);
    delete specification.config;
    specification.description = `${this.caption}. ${rows.length} rows; a table follows.`;
    specification.datasets = { rows };
    if (labels) nameRuns(specification, labels);
    this.drawn?.finalize();
    this.drawn = await vegaEmbed(this.host, specification, {
      renderer: "svg",
      actions: false,
      config: specifications.config,
      tooltip: { sanitize: (value) => String(value).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`) },
    });
    const behind = this.figure.querySelector("details");
    if (behind.open) behind.dispatchEvent(new Event("toggle"));
  }
}

// Runs keep their colours whichever of them are shown.
function nameRuns(specification, labels) {
  const colour = specification.encoding.color;
  colour.scale = { domain: data.runs.map((run) => run.label), range: data.runs.map((_, run) => colourOfRun(run)) };
  colour.legend = { ...colour.legend, values: labels };
}

// Something that is done when the browser has drawn what it has to, so that long pages open at once.
const queue = [];
let busy = false;

function later(work) {
  queue.push(work);
  if (!busy) {
    busy = true;
    setTimeout(goOn);
  }
}

async function goOn() {
  const work = queue.shift();
  if (work) {
    await work();
    setTimeout(goOn);
    return;
  }
  busy = false;
  document.documentElement.dataset.charts = "drawn";
}
