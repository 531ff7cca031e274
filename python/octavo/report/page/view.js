// Which part of a page map is seen: pages from top to bottom, time from left to right.

const LEAST_PAGES = 4;
const LEAST_TICKS = 50;

// Times are ticks of a run; the page's window of time may begin before the run, and end after it.
class View {
  constructor(pages, from, span) {
    this.all = { pages, from, span };
    this.reset();
  }

  reset() {
    this.first = 0;
    this.pages = this.all.pages;
    this.from = this.all.from;
    this.span = this.all.span;
  }

  get whole() {
    return this.pages === this.all.pages && this.span === this.all.span;
  }

  // Zooms by factors (below 1: closer) around a page and a time that stay where they are.
  zoom(pageFactor, timeFactor, page, time) {
    const pages = clamp(this.pages * pageFactor, Math.min(LEAST_PAGES, this.all.pages), this.all.pages);
    const span = clamp(this.span * timeFactor, Math.min(LEAST_TICKS, this.all.span), this.all.span);
    this.first = page - ((page - this.first) * pages) / this.pages;
    this.from = time - ((time - this.from) * span) / this.span;
    this.pages = pages;
    this.span = span;
    this.settle();
  }

  show(first, pages, from, span) {
    this.pages = clamp(pages, Math.min(LEAST_PAGES, this.all.pages), this.all.pages);
    this.span = clamp(span, Math.min(LEAST_TICKS, this.all.span), this.all.span);
    this.first = first - (this.pages - pages) / 2;
    this.from = from - (this.span - span) / 2;
    this.settle();
  }

  move(pages, time) {
    this.first += pages;
    this.from += time;
    this.settle();
  }

  // Moves as little as needed to have a page and a time in sight.
  follow(page, time) {
    this.first = clamp(this.first, page + 1 - this.pages, page);
    this.from = clamp(this.from, time - this.span, time);
    this.settle();
  }

  settle() {
    this.first = clamp(this.first, 0, this.all.pages - this.pages);
    this.from = clamp(this.from, this.all.from, this.all.from + this.all.span - this.span);
  }
}

function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}
