// The class index gets a field that hides the rows without the words typed into it. It has pages by first letter; the field
// searches all of them: the rows of the others are added to the table when it is first used. Without JavaScript each is whole.
document$.subscribe(function () {
  const index = document.querySelector(".class-index");
  if (!index || index.querySelector("input")) return;
  const chinese = document.documentElement.lang.startsWith("zh");
  const table = index.querySelector("tbody");
  const rows = [];
  const add = (row) => rows.push([row, row.textContent.toLowerCase()]);
  for (const row of table.rows) add(row);
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
  // The pages lie beside each other, so the links of their rows are right here, too.
  const addOthers = async function () {
    for (const link of index.querySelectorAll(".class-parts a")) {
      const page = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
      for (const row of page.querySelectorAll(".class-index tbody tr")) add(table.appendChild(document.adoptNode(row)));
      search(); // at once, or rows without the words would be seen until the last page is there
    }
  };
  field.addEventListener("focus", addOthers, { once: true });
  field.addEventListener("input", search);
  const form = document.createElement("form");
  form.setAttribute("role", "search");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(field, count);
  index.prepend(form);
  search();
});
