// Adds the time of the reader to each time in UTC, and shows the theme that was chosen in the console.
const { documentElement: page } = document;
const [locale, here] = page.lang === 'nl' ? ['nl-NL', 'bij u'] : ['en-GB', 'where you are'];
for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime);
  if (at.getTimezoneOffset() === 0) continue;
  const isSameDay = at.getDate() === at.getUTCDate();
  const clock = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };
  const local = at.toLocaleString(locale, isSameDay ? clock : { day: 'numeric', month: 'long', ...clock });
  time.after(` (${local} ${here})`);
}
const theme = localStorage.getItem('assent.theme');
if (theme !== null) page.dataset.theme = theme;
