// All that the console does in the browser: renew a page that is under way, tick all rows of a
// list, keep a decision from being pressed twice, say that one is under way, and say of tables that
// they are. Every page works without it.

const RENEW_MS = 3_000;

function renewWhileLive() {
  const main = document.querySelector('main[data-live]');
  if (main === null) return;
  setTimeout(async () => {
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.querySelector('main');
      // Somebody who is typing is not disturbed; the next turn renews.
      const isBusy = main.contains(document.activeElement) && document.activeElement !== main;
      if (answer.ok && fresh !== null && !isBusy) main.replaceWith(fresh);
      sayTables();
    } finally {
      renewWhileLive();
    }
  }, RENEW_MS);
}

function tickAll() {
  for (const box of document.querySelectorAll('input[data-all]')) {
    box.hidden = false;
    box.addEventListener('change', () => {
      const rows = document.querySelectorAll(`input[type=checkbox][name="${box.dataset.all}"]`);
      for (const row of rows) row.checked = box.checked;
    });
  }
}

function pressOnce() {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.method !== 'post') return;
    if (form.dataset.sent === 'yes') event.preventDefault();
    if (form.dataset.sent === undefined) setTimeout(() => sayUnderWay(form), WAIT_SHOWN_MS);
    form.dataset.sent = 'yes';
  });
}

const WAIT_SHOWN_MS = 500;

/** Most presses are answered before it shows. */
function sayUnderWay(form) {
  const note = document.createElement('p');
  note.className = 'under-way';
  note.setAttribute('role', 'status');
  const bar = document.createElement('progress');
  bar.setAttribute('aria-label', 'Under way');
  note.append(bar, ' Under way. Thousands of rows take some seconds: stay on this page.');
  (form.querySelector('fieldset') ?? form).append(note);
}

const TABLE_ROLES = {
  ...{ thead: 'rowgroup', tbody: 'rowgroup', tr: 'row', td: 'cell' },
  ...{ 'th[scope=col]': 'columnheader', 'th[scope=row]': 'rowheader' },
};

/** Some browsers take the roles from what a narrow window shows as cards or as a list. */
function sayTables() {
  for (const table of document.querySelectorAll('table.cards, table.lists')) {
    table.setAttribute('role', 'table');
    for (const [what, role] of Object.entries(TABLE_ROLES)) {
      for (const one of table.querySelectorAll(what)) one.setAttribute('role', role);
    }
  }
}

renewWhileLive();
sayTables();
tickAll();
pressOnce();
