// The copy button of an example copies what to type: it leaves out the prompts and the output.
for (const code of document.querySelectorAll("pre > code:has(.gp)")) {
  const typed = code.textContent.split("\n").filter((line) => /^(>>>|\.\.\.|[$>])( |$)/.test(line));
  code.dataset.copy = typed.map((line) => line.replace(/^(>>>|\.\.\.|[$>]) ?/, "")).join("\n");
}
