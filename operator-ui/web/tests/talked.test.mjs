// A chat on the page of the real program: what is typed there reaches the model as the next message, and its answer the feed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { counts, says, until } from "./stage.mjs";

const skip = missing("a chat");

test("a chat that began in the terminal goes on from the page, and another one begins there", { skip }, async () => {
  const model = await new Model({ text: "It rounds each line." }, { text: "Il arrondit chaque ligne." }, { text: "There is none." }, { text: "Of what?" }).listen();
  const place = new Place({ "demo/notes.md": "Notes.\n" });
  place.put("config.yaml", model.config);
  const before = process.env.A_SOCIETY_CONFIG;
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  const browser = await launch();
  try {
    // The model answers in this process, which therefore does not wait for the program.
    const chat = place.begin(["chat", "--project", "demo", "--once", "Why does it round twice?"]);
    const said = [];
    chat.stdout.on("data", (piece) => said.push(piece));
    chat.stderr.resume();
    const [code] = await once(chat, "close");
    assert.deepEqual([code, Buffer.concat(said).toString()], [0, "It rounds each line.\n"]);
    const { flows } = JSON.parse(place.run("ls", "--chats", "--json").out);
    await place.serve();
    const { page, complaints } = await open(browser, place.printed);
    // It is among the chats, and asks nothing.
    const rail = page.getByRole("navigation", { name: "Workspace" });
    await says(rail, /Chats\s+Why does it round twice\?/);
    await page.goto(`${place.origin}/p/demo/f/${flows[0].flow}/r/assistant`);
    await says(page.getByRole("log"), /It rounds each line\./);
    const field = page.getByPlaceholder("Message assistant", { exact: true });
    await field.fill("And in French?");
    await field.press("Enter");
    await says(page.getByRole("log"), /Il arrondit chaque ligne\./);
    await until(() => model.heard.length, (n) => n === 2, "the model is asked");
    const { messages } = JSON.parse(model.heard[1].body);
    const text = ({ content }) => (typeof content === "string" ? content : content.map((block) => block.text).join(""));
    assert.deepEqual(messages.map((one) => [one.role, text(one)]), [["user", "Why does it round twice?"], ["assistant", "It rounds each line."], ["user", "And in French?"]]);
    await field.waitFor();
    // Nothing there speaks of waiting, and no message counts as a decision.
    await counts(page.getByText(/Waits for|Forward pass|Answered/), 0);
    await page.goto(`${place.origin}/inbox`);
    await says(page.getByRole("main"), /Nothing waits for you/);
    await counts(page.getByText(/Answered|Nobody drives/), 0);
    // Another one begins here.
    await page.getByLabel("Start a flow").first().click();
    const dialog = page.getByRole("dialog", { name: "Start a flow" });
    await dialog.getByRole("button", { name: "Chat", exact: true }).click();
    await dialog.getByRole("button", { name: "Start chat" }).click();
    await field.fill("Is there a test?");
    await field.press("Enter");
    await says(page.getByRole("log"), /There is none\./);
    const { messages: first } = JSON.parse(model.heard[2].body);
    assert.deepEqual(first.map((one) => text(one)), ["Is there a test?"]);
    await says(rail, /Chats\s+Is there a test\?/);
    // Its menu has what a chat can do, and nothing of graphs. Begun anew, the model sees nothing of before.
    const act = async (name) => {
      await page.getByRole("button", { name: "Flow actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await page.getByRole("menuitem", { name: "Begin anew in this chat", includeHidden: true }).first().waitFor({ state: "attached" });
    await counts(page.getByRole("menuitem", { name: /graph|running turns/, includeHidden: true }), 0);
    await act("Begin anew in this chat");
    await says(page.getByRole("log"), /Session reset/);
    await field.fill("Go on.");
    await field.press("Enter");
    await says(page.getByRole("log"), /Of what\?/);
    const { messages: anew } = JSON.parse(model.heard[3].body);
    assert.deepEqual(anew.map((one) => text(one)), ["Go on."]);
    await act("Close the chat");
    await says(page.getByRole("log"), /Chat closed/);
    const chats = () => JSON.parse(place.run("ls", "--chats", "--json").out).flows.map((one) => one.standing).sort();
    assert.deepEqual(chats(), ["closed", "your turn"]);
    await act("Open the chat again");
    await until(chats, (all) => all.every((one) => one === "your turn"), "it is open again");
    assert.deepEqual(complaints, []);
  } finally {
    if (before === undefined) delete process.env.A_SOCIETY_CONFIG;
    else process.env.A_SOCIETY_CONFIG = before;
    await browser.close();
    model.close();
    await place.end();
  }
});
