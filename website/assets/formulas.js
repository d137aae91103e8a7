// Typeset the formulas of a page with KaTeX, which the site carries. Without JavaScript, pages show their source.
for (const element of document.querySelectorAll(".arithmatex")) {
  const source = element.textContent.trim().replace(/^\\[([]|\\[)\]]$/g, "");
  katex.render(source, element, { displayMode: element.tagName === "DIV", throwOnError: false });
}
