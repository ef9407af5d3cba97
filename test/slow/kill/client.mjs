/**
 * A client in a process of its own, to be killed. Makes the calls of its argument, `{url, calls: [{headers, body}]}`, all
 * at once, and writes a call's number for each event that comes: one digit.
 */
import { request } from 'node:http';

const { url, calls } = JSON.parse(process.argv[2]);
calls.forEach(({ headers, body }, index) => {
  const call = request(`${url}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
    response.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(String(index).repeat(text.split('data: ').length - 1));
    });
  });
  call.end(body);
});
