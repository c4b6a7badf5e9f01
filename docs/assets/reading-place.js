// Where the reader is on the path: kept in this browser's localStorage, and nowhere else. A page counts as read when its end
// has been on the screen. Links to stops get a mark, and pages with a .reading-place say where to go on.
document$.subscribe(function () {
  const key = "kafka_lite.path";
  const chinese = document.documentElement.lang.startsWith("zh");
  let place = { read: {}, last: null };
  try {
    place = { ...place, ...JSON.parse(localStorage.getItem(key)) };
  } catch {} // no storage, or not ours: the page is whole without it
  const keep = function () {
    try {
      localStorage.setItem(key, JSON.stringify(place));
    } catch {}
  };
  const mark = function () {
    for (const link of document.querySelectorAll("a[data-stop]")) {
      link.classList.toggle("is-read", link.dataset.stop in place.read);
    }
  };

  const signpost = document.querySelector(".signpost[data-stop]");
  if (signpost) {
    place.last = { stop: signpost.dataset.stop, title: document.querySelector("h1").firstChild.textContent.trim(), href: location.pathname };
    keep();
    const end = document.createElement("span");
    signpost.closest("article").append(end);
    const observer = new IntersectionObserver(function (entries) {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      place.read[signpost.dataset.stop] = true;
      keep();
      observer.disconnect();
    });
    observer.observe(end);
  }

  mark();
  const shown = document.querySelector(".reading-place");
  if (!shown || !place.last) return;
  const count = Object.keys(place.read).length;
  const link = document.createElement("a");
  link.href = place.last.href;
  link.textContent = place.last.title;
  const forget = document.createElement("button");
  forget.type = "button";
  forget.textContent = chinese ? "清除记录" : "Forget it";
  forget.addEventListener("click", function () {
    place = { read: {}, last: null };
    keep();
    shown.hidden = true;
    mark();
  });
  shown.replaceChildren(
    chinese ? "上次读到：" : "You were reading ", link,
    chinese ? `。已读完 ${count} 页。` : `. Pages read: ${count}. `, forget,
  );
  shown.hidden = false;
});
