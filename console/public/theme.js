// Runs before the page is drawn: until its other scripts are there, a chosen theme would show as the system's. The key is that of
// session/settings.ts.
try {
  const theme = localStorage.getItem("triplane.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // The browser blocks all storage: the theme is the system's.
}
