// Tables that sort.

/** Makes the columns of a table sortable; cells carry their value in data-value. */
function sortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = el("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => {
        const text = row.cells[column].dataset.value ?? row.cells[column].textContent;
        return text === "" || Number.isNaN(+text) ? text : +text;
      };
      const rows = [...body.rows].sort((p, q) => {
        const a = key(p),
          b = key(q);
        return typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
      });
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}
