// Brings what is chosen of a row of tabs into view. `scrollIntoView` would also let the Tab key begin there.
export function across(row: HTMLElement): void {
  const chosen = row.querySelector<HTMLElement>("[aria-current]:not([aria-current=false])");
  if (chosen !== null && row.scrollWidth > row.clientWidth) row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
}
