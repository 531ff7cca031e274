// Charts over time follow the page's window of time, change it, and show the moment under the pointer.

const REDRAW_AFTER = 60;

function keepTime(chart) {
  chart.host.classList.add("timed");
  timeline.changes.push(() => {
    clearTimeout(chart.late);
    chart.late = setTimeout(() => later(() => showWindow(chart)), REDRAW_AFTER);
  });
  crosshair(chart.host, (time) => {
    const plot = plotOf(chart);
    if (!plot || time < timeline.from || time > timeline.to) return null;
    const share = (time - timeline.from) / (timeline.to - timeline.from);
    return { left: plot.left + share * plot.width, top: plot.top, height: plot.height, turned: share > 0.7 };
  });
  listenForTime(chart);
}

async function showWindow(chart) {
  if (!chart.drawn || !chart.host.isConnected) return;
  await chart.drawn.view.signal("window_from", timeline.from).signal("window_to", timeline.to).runAsync();
}

// Where a chart's plot lies in its host, in pixels; nothing before it is drawn.
function plotOf(chart) {
  if (!chart.drawn) return null;
  const { view } = chart.drawn;
  const [left, top] = view.origin();
  const around = view.padding();
  return { left: left + around.left, top: top + around.top, width: view.width(), height: view.height() };
}

function listenForTime(chart) {
  const { host } = chart;
  const at = (event) => {
    const plot = plotOf(chart);
    const x = event.clientX - host.getBoundingClientRect().left;
    if (!plot || x < plot.left || x > plot.left + plot.width) return null;
    return timeline.from + ((x - plot.left) / plot.width) * (timeline.to - timeline.from);
  };
  let held = null;
  host.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0 || at(event) === null) return;
    held = { x: event.clientX, from: timeline.from, to: timeline.to };
    host.setPointerCapture(event.pointerId);
  });
  host.addEventListener("pointermove", (event) => {
    timeline.point(at(event));
    if (!held) return;
    const by = ((held.x - event.clientX) / plotOf(chart).width) * (held.to - held.from);
    timeline.set(held.from + by, held.to + by);
  });
  host.addEventListener("pointerup", () => {
    held = null;
  });
  host.addEventListener("pointerleave", () => timeline.point(null));
  host.addEventListener("dblclick", () => timeline.reset());
  host.addEventListener(
    "wheel",
    (event) => {
      if (!event.shiftKey || at(event) === null) return;
      event.preventDefault();
      timeline.zoom(Math.exp(clamp(event.deltaY || event.deltaX, -200, 200) / 300), at(event));
    },
    { passive: false },
  );
}
