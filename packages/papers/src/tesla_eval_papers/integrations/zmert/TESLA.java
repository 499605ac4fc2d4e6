// TESLA for Z-MERT: a metric that asks `tesla serve --protocol zmert` for the scores of candidates.
//
// In Z-MERT's configuration: -m TESLA m en   (metric and language as `tesla score -m m -l en` takes them).
// The command is `tesla` from the PATH, or what the environment variable TESLA_COMMAND names.

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;

public class TESLA extends EvaluationMetric {
  // A score is round(score * 2^30) in two parts of 15 bits. Z-MERT adds statistics in int without looking for overflow:
  // 65,535 parts of at most 2^15 still fit.
  private static final int HIGH_BITS = 15;
  private static final double UNIT = 1 << 30;
  private static final int MOST_SENTENCES = 65535;

  private final String metric;
  private final String language;
  private BufferedWriter toServer;
  private BufferedReader fromServer;

  public TESLA(String[] options) {
    if (options.length != 2) {
      throw new IllegalArgumentException("TESLA takes two options, metric and language: -m TESLA m en");
    }
    metric = options[0];
    language = options[1];
    initialize();
  }

  protected void initialize() {
    metricName = "TESLA";
    toBeMinimized = false;
    suffStatsCount = 3; // high part, low part, number of sentences
    if (numSentences > MOST_SENTENCES) {
      throw new IllegalArgumentException("TESLA: " + numSentences + " sentences; sums of more than " + MOST_SENTENCES
          + " overflow Z-MERT's int statistics");
    }
    start();
    sendReferences();
  }

  public double bestPossibleScore() { return 1.0; }

  public double worstPossibleScore() { return 0.0; }

  public int[] suffStats(String candidate, int i) {
    return suffStats(new String[] {candidate}, new int[] {i})[0];
  }

  public int[][] suffStats(String[] candidates, int[] indices) {
    if (candidates.length != indices.length) {
      throw new IllegalArgumentException("TESLA: " + candidates.length + " candidates, " + indices.length + " indices");
    }
    int[][] stats = new int[candidates.length][suffStatsCount];
    if (candidates.length == 0) return stats;
    try {
      toServer.write("SCORE " + candidates.length + "\n");
      for (int d = 0; d < candidates.length; ++d) {
        toServer.write(indices[d] + " ||| " + oneLine(candidates[d]) + "\n");
      }
      toServer.flush();
      for (int d = 0; d < candidates.length; ++d) {
        String[] parts = answer().split(" ");
        stats[d][0] = Integer.parseInt(parts[0]);
        stats[d][1] = Integer.parseInt(parts[1]);
        stats[d][2] = 1;
      }
    } catch (IOException e) {
      throw gone(e);
    }
    return stats;
  }

  public double score(int[] stats) {
    if (stats.length != suffStatsCount) {
      throw new IllegalArgumentException("TESLA: " + stats.length + " statistics instead of " + suffStatsCount);
    }
    if (stats[2] == 0) return 0.0;
    long whole = ((long) stats[0] << HIGH_BITS) + stats[1];
    return whole / UNIT / stats[2];
  }

  public void printDetailedScore_fromStats(int[] stats, boolean oneLiner) {
    System.out.println("TESLA (" + metric + ", " + language + ") = " + score(stats)
        + (oneLiner ? "" : " over " + stats[2] + " sentences"));
  }

  private void start() {
    String command = System.getenv("TESLA_COMMAND") != null ? System.getenv("TESLA_COMMAND") : "tesla";
    ProcessBuilder builder =
        new ProcessBuilder(command, "serve", "--protocol", "zmert", "-m", metric, "-l", language);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT); // what it complains about is seen
    try {
      final Process server = builder.start();
      toServer = new BufferedWriter(new OutputStreamWriter(server.getOutputStream(), StandardCharsets.UTF_8));
      fromServer = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
      Runtime.getRuntime().addShutdownHook(new Thread() {
        public void run() { server.destroy(); }
      });
    } catch (IOException e) {
      throw new IllegalStateException("TESLA: " + command + " cannot be started; is tesla-eval installed and on the "
          + "PATH? (" + e.getMessage() + ")");
    }
  }

  private void sendReferences() {
    try {
      toServer.write("REFS " + numSentences + " " + refsPerSen + "\n");
      for (int i = 0; i < numSentences; ++i) {
        for (int r = 0; r < refsPerSen; ++r) toServer.write(oneLine(refSentences[i][r]) + "\n");
      }
      toServer.flush();
      String expected = "OK " + numSentences + " " + refsPerSen;
      String said = answer();
      if (!said.equals(expected)) throw new IllegalStateException("TESLA: expected " + expected + ", got " + said);
    } catch (IOException e) {
      throw gone(e);
    }
  }

  private String answer() throws IOException {
    String line = fromServer.readLine();
    if (line == null) throw new IOException("it ended");
    if (line.startsWith("ERROR")) throw new IllegalStateException("TESLA: " + line);
    return line;
  }

  private static String oneLine(String text) {
    return text.replace('\n', ' ').replace('\r', ' ');
  }

  private static IllegalStateException gone(IOException e) {
    return new IllegalStateException("TESLA: no answer from tesla serve (" + e.getMessage() + ")");
  }
}
