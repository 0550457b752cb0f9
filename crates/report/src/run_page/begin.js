
// A page that was written: one run, drawn once.

drawRun(newGroup());
if (matchMedia("(max-width: 1080px)").matches) get("list").open = false;
themeSwitch(get("theme"));
