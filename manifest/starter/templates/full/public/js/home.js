const notes = document.querySelector("#notes");
const answer = await fetch("/api/notes");
for (const note of answer.ok ? (await answer.json()).notes : []) {
  const item = document.createElement("li");
  item.textContent = `${note.body} (${note.author})`;
  notes.append(item);
}

const photo = document.querySelector("#photo");
const show = () => (photo.hidden = photo.naturalWidth === 0);
photo.addEventListener("load", show);
show();
