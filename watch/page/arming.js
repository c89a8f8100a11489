// SPDX-License-Identifier: LGPL-2.1-or-later
// A dialog that arms and disarms a camera and its regions, or pauses them.
"use strict";

const armingDialog = find("#arming-dialog");

function describeArming({ armed, arming, paused_until: until }) {
  if (until)
    return `paused until ${new Date(until).toLocaleTimeString([], { timeStyle: "short" })}`;
  return arming === "schedule" && !armed ? "disarmed by its schedule" : armed ? "armed" : "disarmed";
}

// A row for a camera (no region) or a region; `names` are the cameras that a command goes to.
function makeArmingRow(title, status, names, region) {
  const row = find("#arming-template").content.firstElementChild.cloneNode(true);
  const choice = find("select", row);
  find(".name", row).textContent = title;
  find(".status", row).textContent = status ? describeArming(status) : "";
  choice.setAttribute("aria-label", `Arm ${title}`);
  choice.value = "";
  choice.addEventListener("change", async () => {
    find(".error", armingDialog).textContent = "";
    try {
      for (const name of names)
        await request("PUT", `${cameraPath(name)}/arming`, JSON.stringify({ arming: choice.value, ...(region ? { region } : {}) }));
    } catch (error) {
      find(".error", armingDialog).textContent = error.message;
    }
    await updateCameras().catch(showProblem);
    showArming(armingDialog.dataset.name);
  });
  return row;
}

function showArming(name) {
  const camera = cards.get(name)?.camera;
  if (!camera) {
    armingDialog.close();
    return;
  }
  find(".rows", armingDialog).replaceChildren(
    makeArmingRow(name, camera, [name]),
    ...camera.regions.map((region) => makeArmingRow(region.name, region, [name], region.name)),
    ...(cards.size > 1 ? [makeArmingRow("All cameras", null, [...cards.keys()])] : []));
}

function openArmingDialog(name) {
  armingDialog.dataset.name = name;
  find("h2", armingDialog).textContent = `Alerts of ${name}`;
  find(".error", armingDialog).textContent = "";
  showArming(name);
  armingDialog.showModal();
}
