# recipes.awk -v list=FILE FILE ...: what these say to type, by field: README.md's table "You have, you want", the QUICK START of a page of
# man/, the tasks of common/tools/weir; and the sections of weir(7)'s tutorial. A field is that of a title and a command, in HTML, which
# fit its pattern and none before. The list is for the box of each page.
BEGIN {
	n = split("Astronomy:fits|FITS|weir (sources|changes)|psfmatch|rawwarp|rawback|rawphot|stars|sky|uvw:" \
		"Seismic data:segy|sutoraw|rawtosu|gather|radon|rawnmo:k-space and spectra:usfft|k-space|magnetic:" \
		"Maps and satellites: map|--map|dptrace|geojson|ndvi|satellite|landcover|nodata|--to=means:" \
		"Microscopy, counting and shapes:rawlabel|rawdist|morphrec|cells|stack.tif|photograph to a table:" \
		"Colours:rawpalette|emst|rgb|grayscale|channel|colormap|c.0|invert:Any picture:.", field, ":")
}

function recipe(name, command,    i, id) {
	for (i = 1; (name " " command) !~ field[i + 1]; i += 2)
		continue
	id = field[i]
	gsub(/[ ,]+/, "-", id)
	if (!(i in html))
		html[i] = "<h2 id=\"" id "\">" field[i] "</h2>\n<dl class=\"recipes\">"
	html[i] = html[i] "\n<dt>" name "<dd>" (command == "" ? "" : "<pre>" command "</pre>")
	if (command != "")
		print "recipes.html#" id "\t" command "\t" name >list
	title = ""
}

/^\| You have /, /^$/ {
	gsub(/\\\|/, "\001")
	split($0, cell, / *\| */)
	gsub(/\001/, "|", cell[4])
	if (gsub(/`/, "", cell[4]))
		recipe(cell[2] ": " cell[3], cell[4])
}

/^\.Ss From / {
	link = name = substr($0, 5)
	gsub(/ /, "_", link)
	recipe("<a href=\"weir.7.html#" link "\">" name "</a>, step by step", "")
}

# In a quick start a comment is the title of the command behind it.
/^\.Sh / { quick = /QUICK START/ }
quick && /^# / { title = substr($0, 3) }
quick && /^\$ / && title != "" { recipe(title, substr($0, 3)) }

/^tasks\(\)/, /^}/ {
	if (split($0, part, /\t+/) == 3)
		recipe("<i>" part[3] "</i>", part[2])
}

END {
	for (i = 1; i < n; i += 2)
		print html[i] "\n</dl>"
}
