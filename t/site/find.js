// Behind the list `entries` of [link, name, text], in HTML. The box of each page shows those with all its words, this page's first.
const box = document.querySelector("#find input"), list = document.querySelector("#find ul");
const here = location.pathname.split("/").pop() + "#";
box.hidden = false;
box.oninput = () => {
	const words = box.value.toLowerCase().split(/\s+/).filter(w => w);
	const rank = e => e[0].startsWith(here) ? 0 : words.every(w => e[1].toLowerCase().includes(w)) ? 1 : 2;
	const hits = entries.filter(e => words.length && words.every(w => e.join(" ").toLowerCase().includes(w)));
	list.innerHTML = hits.sort((a, b) => rank(a) - rank(b)).slice(0, 50).map(e => `<li><a href="${e[0]}">${e[1]}</a> ${e[2]}`).join("") ||
		(words.length ? "<li>Nothing has all these words." : "");
};
box.onkeydown = e => e.key == "Enter" && list.querySelector("a")?.click();
list.onclick = () => list.replaceChildren();
