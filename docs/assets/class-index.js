// The class index gets a field that hides the rows without the words typed into it. Without JavaScript the table is whole.
document$.subscribe(function () {
  const index = document.querySelector(".class-index");
  if (!index || index.querySelector("input")) return;
  const chinese = document.documentElement.lang.startsWith("zh");
  const rows = [...index.querySelectorAll("tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = chinese ? "类名、章节、模块……" : "class, section, module …";
  field.setAttribute("aria-label", chinese ? "在索引中查找" : "Search the index");
  const count = document.createElement("output");
  const search = function () {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every((word) => text.includes(word) || text.includes(word.replaceAll("_", "")));
      found += row.hidden ? 0 : 1;
    }
    count.value = `${found} / ${rows.length}`;
  };
  field.addEventListener("input", search);
  const form = document.createElement("form");
  form.setAttribute("role", "search");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(field, count);
  index.prepend(form);
  search();
});
