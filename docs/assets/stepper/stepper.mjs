// Lets the recorded runs of a page of the site play.

import { Stepper } from "./player.mjs";

/** The steps lie in a file beside the page, so that the page has its text and figures sooner. */
async function load(figure) {
  const address = figure.dataset.steps;
  delete figure.dataset.steps;
  new Stepper(figure, await (await fetch(address)).json());
}

document$.subscribe(() => {
  for (const figure of document.querySelectorAll(".recorded-run[data-steps]")) load(figure);
});
