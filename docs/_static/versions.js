// The list of versions in the sidebar, where the site stands among those of other versions.
document.addEventListener("DOMContentLoaded", async () => {
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const here = root.pathname.split("/").filter(Boolean).pop();
  let known = [];
  try {
    const answer = await fetch(new URL("../versions.json", root));
    if (answer.ok) known = await answer.json();
  } catch {
    return; // a site by itself, or opened as a file
  }
  if (!known.includes(here)) return;
  const list = document.getElementById("versions");
  for (const name of known) list.add(new Option(name, name, name === here, name === here));
  list.addEventListener("change", () => location.assign(new URL(`../${list.value}/`, root)));
  list.parentElement.hidden = false;
});
