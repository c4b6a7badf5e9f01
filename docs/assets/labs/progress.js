// What this browser has of the labs (docs/assets/labs/store.mjs), beside each link to one on the pages of the path.
document$.subscribe(function () {
  let labs = {};
  try {
    labs = JSON.parse(localStorage.getItem("kafka_lite.labs"))?.labs ?? {};
  } catch {} // no storage, or not ours
  for (const link of document.querySelectorAll('a[data-stop^="labs/"]')) {
    const lab = labs[link.dataset.stop.slice("labs/".length)];
    if (!lab?.total || link.querySelector(".lab-points")) continue;
    const points = document.createElement("small");
    points.className = "lab-points";
    points.dataset.role = "points";
    points.textContent = ` ${lab.best === lab.total ? "✓" : "◐"} ${lab.best}/${lab.total}`;
    link.append(points);
  }
});
